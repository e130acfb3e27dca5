"""What the deployed functions do, end to end, on an emulator: stories.py PLAIN.json BUILD_FOLDER LOG

PLAIN.json is the translated template, BUILD_FOLDER what `sam build` made, LOG where ministack's output goes.
"""

import sys

import report
import stories_of_failures
import stories_of_turns
from stack import Emulator, Stack
from report import equal


def the_stack_is_as_the_template_says(stack):
    """Table, queues, mappings, schedule, log groups and secret are there with their settings."""
    for name in ("WebhookUrl", "SecretArn", "TableName", "TicksQueueUrl", "TicksDeadQueueUrl", "CompactionsQueueUrl"):
        assert stack.outputs.get(name), f"output {name} is missing"
    table = stack.dynamodb.describe_table(TableName=stack.outputs["TableName"])["Table"]
    equal([index["IndexName"] for index in table["LocalSecondaryIndexes"]], ["live"])
    equal([index["IndexName"] for index in table["GlobalSecondaryIndexes"]], ["unrest"])
    equal(table["GlobalSecondaryIndexes"][0]["Projection"]["ProjectionType"], "KEYS_ONLY")
    queue = stack.sqs.get_queue_attributes(QueueUrl=stack.outputs["TicksQueueUrl"], AttributeNames=["All"])
    attributes = queue["Attributes"]
    expected = {"FifoQueue": "true", "DelaySeconds": "5", "VisibilityTimeout": "150"}
    expected |= {"DeduplicationScope": "messageGroup", "FifoThroughputLimit": "perMessageGroupId"}
    for name, value in expected.items():
        equal(attributes.get(name), value, name)
    assert "1000" in attributes["RedrivePolicy"], attributes["RedrivePolicy"]
    mappings = stack.functions.list_event_source_mappings(FunctionName=stack.resources["Processor"])
    for mapping in mappings["EventSourceMappings"]:
        equal(mapping["BatchSize"], 1, "BatchSize")
        equal(mapping["FunctionResponseTypes"], ["ReportBatchItemFailures"])
    concurrency = [one["ScalingConfig"]["MaximumConcurrency"] for one in mappings["EventSourceMappings"]]
    equal(sorted(int(one) for one in concurrency), [2, 5], "MaximumConcurrency")
    groups = stack.logs.describe_log_groups(logGroupNamePrefix=f"/recado/{'recado'}/")["logGroups"]
    equal({(group["logGroupName"].split("/")[-1], group["retentionInDays"]) for group in groups},
          {("ingest", 30), ("processor", 30), ("sweeper", 30)})
    secret = stack.secret()
    equal(len(secret["hash_key"]), 64, "hash_key")
    equal(sum(1 for value in secret.values() if value), 1, "keys that are not blank")


def main():
    plain, builds, log = sys.argv[1:]
    emulator = Emulator(log)
    failed = 1
    try:
        stack = Stack(emulator, plain, builds)
        stories = [the_stack_is_as_the_template_says, *stories_of_failures.BEFORE_THE_SECRETS]
        stories += [*stories_of_turns.ALL, *stories_of_failures.AFTERWARDS]
        failed = report.tell(stories, stack)
    finally:
        emulator.stop()
    report.end(failed)


if __name__ == "__main__":
    main()
