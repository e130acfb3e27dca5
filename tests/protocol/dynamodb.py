"""What Recado needs of DynamoDB, checked on any endpoint: dynamodb.py ENDPOINT_URL

One table for all checks, with an index of each kind; every check writes under partition keys of its own.
"""

import time
import uuid
from concurrent.futures import ThreadPoolExecutor

from botocore.exceptions import ClientError

from runner import check, client, equal, refused, run

dynamodb = client("dynamodb")

TABLE = "check-" + uuid.uuid4().hex[:8]
FAILED = "ConditionalCheckFailedException"
INVALID = "ValidationException"
ABSENT = "attribute_not_exists(pk)"


def s(text):
    return {"S": text}


def n(number):
    return {"N": str(number)}


def key(pk, sk="0"):
    return {"pk": s(pk), "sk": s(sk)}


def put(pk, sk="0", condition=None, **more):
    options = more.pop("options", {})
    if condition:
        options["ConditionExpression"] = condition
    return dynamodb.put_item(TableName=TABLE, Item={**key(pk, sk), **more}, **options)


def update(pk, expression, values=None, sk="0", **options):
    if values:
        options["ExpressionAttributeValues"] = values
    return dynamodb.update_item(TableName=TABLE, Key=key(pk, sk), UpdateExpression=expression, **options)


def get(pk, sk="0"):
    return dynamodb.get_item(TableName=TABLE, Key=key(pk, sk), ConsistentRead=True).get("Item")


def query(pk, **options):
    values = {":pk": s(pk), **options.pop("values", {})}
    condition = "pk = :pk" + options.pop("and_", "")
    return dynamodb.query(
        TableName=TABLE, KeyConditionExpression=condition, ExpressionAttributeValues=values, **options
    )


def sort_keys(answer):
    return [item["sk"]["S"] for item in answer["Items"]]


def add_one(pk, sk="0", **more):
    return {
        "Update": {
            "TableName": TABLE,
            "Key": key(pk, sk),
            "UpdateExpression": "ADD hits :one",
            "ExpressionAttributeValues": {":one": n(1)},
            **more,
        }
    }


# The table


@check
def table():
    """a table with a local and a global index becomes active"""
    index = lambda name, hash_key, range_key, projection: {
        "IndexName": name,
        "KeySchema": [
            {"AttributeName": hash_key, "KeyType": "HASH"},
            {"AttributeName": range_key, "KeyType": "RANGE"},
        ],
        "Projection": {"ProjectionType": projection},
    }
    dynamodb.create_table(
        TableName=TABLE,
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
        AttributeDefinitions=[
            {"AttributeName": name, "AttributeType": kind}
            for name, kind in {"pk": "S", "sk": "S", "slot": "S", "part": "S", "due": "N"}.items()
        ],
        LocalSecondaryIndexes=[index("live", "pk", "slot", "ALL")],
        GlobalSecondaryIndexes=[index("unrest", "part", "due", "KEYS_ONLY")],
    )
    for _ in range(50):
        if dynamodb.describe_table(TableName=TABLE)["Table"]["TableStatus"] == "ACTIVE":
            return
        time.sleep(0.1)
    raise AssertionError("the table is not active after 5 s")


@check
def table_twice():
    """a table is not made twice"""
    with refused("ResourceInUseException"):
        dynamodb.create_table(
            TableName=TABLE,
            BillingMode="PAY_PER_REQUEST",
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        )
    with refused("ResourceNotFoundException"):
        dynamodb.describe_table(TableName=TABLE + "-missing")


# Conditions


@check
def put_once():
    """a put under attribute_not_exists succeeds once"""
    put("once", condition=ABSENT)
    with refused(FAILED):
        put("once", condition=ABSENT)


@check
def failed_condition_gives_the_item():
    """a failed condition gives back the stored item, for put, update and delete"""
    put("stored", word=s("old"))
    wanted = {"ReturnValuesOnConditionCheckFailure": "ALL_OLD"}
    other = {"ConditionExpression": "word = :w", "ExpressionAttributeValues": {":w": s("other")}, **wanted}
    calls = {
        "put": lambda: put("stored", condition=ABSENT, options=dict(wanted)),
        "update": lambda: dynamodb.update_item(
            TableName=TABLE,
            Key=key("stored"),
            UpdateExpression="SET word = :n",
            **{**other, "ExpressionAttributeValues": {":w": s("other"), ":n": s("new")}},
        ),
        "delete": lambda: dynamodb.delete_item(TableName=TABLE, Key=key("stored"), **other),
    }
    for label, call in calls.items():
        with refused(FAILED, label) as error:
            call()
        equal(error.get("Item", {}).get("word"), s("old"), label)
    equal(get("stored")["word"], s("old"))


@check
def compare_and_set():
    """a version is raised by who read it last, and by nobody else"""
    put("version", version=n(1))
    raise_from = lambda seen: update(
        "version",
        "SET #v = :next",
        {":seen": n(seen), ":next": n(seen + 1)},
        ConditionExpression="#v = :seen",
        ExpressionAttributeNames={"#v": "version"},
    )
    raise_from(1)
    with refused(FAILED):
        raise_from(1)
    equal(get("version")["version"], n(2))


# Updates


@check
def counters():
    """ADD, if_not_exists and arithmetic, with the new item given back"""
    for word in ("first", "second"):
        answer = update(
            "counter",
            "ADD hits :one SET word = if_not_exists(word, :w), tally = if_not_exists(tally, :ten) + :one",
            {":one": n(1), ":w": s(word), ":ten": n(10)},
            ReturnValues="ALL_NEW",
        )
    item = answer["Attributes"]
    equal((item["hits"], item["word"], item["tally"]), (n(2), s("first"), n(12)))


@check
def lists_and_sets():
    """list_append, REMOVE, and a string set that loses a member"""
    update(
        "list",
        "SET #l = list_append(if_not_exists(#l, :none), :one) ADD tags :tags",
        {":none": {"L": []}, ":one": {"L": [s("a")]}, ":tags": {"SS": ["x", "y"]}},
        ExpressionAttributeNames={"#l": "list"},
    )
    equal(get("list")["list"], {"L": [s("a")]})
    answer = update(
        "list",
        "REMOVE #l DELETE tags :tags",
        {":tags": {"SS": ["x"]}},
        ExpressionAttributeNames={"#l": "list"},
        ReturnValues="ALL_NEW",
    )
    equal(answer["Attributes"].get("list"), None)
    equal(answer["Attributes"]["tags"], {"SS": ["y"]})


# Indexes and queries


@check
def local_index():
    """the local index is sparse, ordered and read consistently"""
    for number in range(4):
        more = {"slot": s(f"z{9 - number}")} if number % 2 == 0 else {}
        put("local", str(number), **more)
    read = lambda: sort_keys(query("local", IndexName="live", ConsistentRead=True))
    equal(read(), ["2", "0"])
    update("local", "REMOVE slot", sk="2")
    equal(read(), ["0"])
    update("local", "SET slot = :s", {":s": s("a")}, sk="3")
    equal(read(), ["3", "0"])


@check
def global_index():
    """the global index is sparse and keys only, and is not read consistently"""
    part = "part-" + TABLE
    put("global", "1", part=s(part), due=n(5), word=s("w"))
    put("global", "2", part=s(part))
    put("global", "3", part=s(part), due=n(10))
    options = {
        "TableName": TABLE,
        "IndexName": "unrest",
        "KeyConditionExpression": "part = :p AND due <= :d",
        "ExpressionAttributeValues": {":p": s(part), ":d": n(9)},
    }
    for _ in range(20):
        items = dynamodb.query(**options)["Items"]
        if items:
            break
        time.sleep(0.1)
    equal([set(item) for item in items], [{"pk", "sk", "part", "due"}])
    equal(items[0]["sk"], s("1"))
    with refused(INVALID):
        dynamodb.query(**options, ConsistentRead=True)


@check
def pages():
    """a limit makes pages, on the table and on an index"""
    for number in range(7):
        put("pages", str(number), slot=s(str(9 - number)))
    for index, keys, expected in ((None, {"pk", "sk"}, "0123456"), ("live", {"pk", "sk", "slot"}, "6543210")):
        options = {"IndexName": index} if index else {}
        seen, count, start = [], 0, {}
        while True:
            answer = query("pages", Limit=3, ConsistentRead=True, **options, **start)
            seen += sort_keys(answer)
            count += 1
            if "LastEvaluatedKey" not in answer:
                break
            equal(set(answer["LastEvaluatedKey"]), keys)
            start = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}
        equal(("".join(seen), count), (expected, 3), index or "table")


@check
def ranges():
    """begins_with, BETWEEN, backwards, filters and counts"""
    for name in ("call#1", "call#2", "event#1", "state"):
        put("range", name, **({"word": s("w")} if name != "call#2" else {}))
    begins = {"and_": " AND begins_with(sk, :b)", "values": {":b": s("call#")}}
    equal(sort_keys(query("range", ScanIndexForward=False, **begins)), ["call#2", "call#1"])
    between = {"and_": " AND sk BETWEEN :a AND :z", "values": {":a": s("call#2"), ":z": s("event#9")}}
    equal(sort_keys(query("range", **between)), ["call#2", "event#1"])
    answer = query("range", FilterExpression="attribute_exists(word)", Select="COUNT")
    equal((answer["Count"], answer["ScannedCount"], answer.get("Items")), (3, 4, None))
    answer = query("range", ProjectionExpression="word")
    equal(answer["Items"][0], {"word": s("w")})


@check
def megabyte():
    """a page ends at a megabyte"""
    for number in range(5):
        put("large", str(number), text=s("x" * 300_000))
    answer = query("large")
    equal((answer["Count"] < 5, "LastEvaluatedKey" in answer), (True, True))


# Transactions


@check
def transaction():
    """a transaction writes all or nothing, and says which condition failed"""
    absent = {"Put": {"TableName": TABLE, "Item": key("tx", "put"), "ConditionExpression": ABSENT}}
    dynamodb.transact_write_items(TransactItems=[absent, add_one("tx")])
    absent["Put"]["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
    missing = {
        "ConditionCheck": {
            "TableName": TABLE,
            "Key": key("tx", "missing"),
            "ConditionExpression": "attribute_exists(pk)",
        }
    }
    with refused("TransactionCanceledException") as error:
        dynamodb.transact_write_items(TransactItems=[add_one("tx"), absent, missing])
    reasons = error["CancellationReasons"]
    equal([reason["Code"] for reason in reasons], ["None", "ConditionalCheckFailed", "ConditionalCheckFailed"])
    equal(reasons[1].get("Item"), key("tx", "put"))
    equal(get("tx")["hits"], n(1))


@check
def transaction_twice():
    """a transaction with the same token happens once; with other content it is refused"""
    token = uuid.uuid4().hex
    for _ in range(2):
        dynamodb.transact_write_items(ClientRequestToken=token, TransactItems=[add_one("token")])
    equal(get("token")["hits"], n(1))
    with refused("IdempotentParameterMismatchException"):
        dynamodb.transact_write_items(ClientRequestToken=token, TransactItems=[add_one("token", "other")])


@check
def transaction_rules():
    """a transaction holds 100 items, each once"""
    hundred = [add_one("hundred", str(number)) for number in range(100)]
    dynamodb.transact_write_items(TransactItems=hundred)
    equal(query("hundred", Select="COUNT")["Count"], 100)
    with refused(INVALID, "101 items"):
        dynamodb.transact_write_items(TransactItems=hundred + [add_one("hundred", "100")])
    with refused(INVALID, "one item twice"):
        dynamodb.transact_write_items(TransactItems=[add_one("twice"), add_one("twice")])


@check
def transaction_read():
    """a transaction reads several items at once, and says which are missing"""
    put("read", "1", word=s("w"))
    gets = [{"Get": {"TableName": TABLE, "Key": key("read", sk)}} for sk in ("1", "2")]
    answer = dynamodb.transact_get_items(TransactItems=gets)["Responses"]
    equal([response.get("Item", {}).get("word") for response in answer], [s("w"), None])


# Batches and limits


@check
def batch():
    """a batch writes 25 items and no more"""
    puts = [{"PutRequest": {"Item": key("batch", f"{number:02}")}} for number in range(26)]
    deletes = [{"DeleteRequest": {"Key": request["PutRequest"]["Item"]}} for request in puts]
    for requests, left in ((puts[:25], 25), (deletes[:25], 0)):
        answer = dynamodb.batch_write_item(RequestItems={TABLE: requests})
        equal(answer.get("UnprocessedItems") or {}, {})
        equal(query("batch", Select="COUNT")["Count"], left)
    with refused(INVALID):
        dynamodb.batch_write_item(RequestItems={TABLE: puts})


@check
def item_size():
    """an item is at most 400 KB"""
    put("size", text=s("x" * 390_000))
    with refused(INVALID):
        put("size", text=s("x" * 410_000))


@check
def strictness():
    """reserved words, unused values and empty keys are refused"""
    with refused(INVALID, "reserved word"):
        put("strict", condition="attribute_not_exists(state)")
    with refused(INVALID, "unused value"):
        put("strict", condition=ABSENT, options={"ExpressionAttributeValues": {":x": s("x")}})
    with refused(INVALID, "unused name"):
        put("strict", condition=ABSENT, options={"ExpressionAttributeNames": {"#x": "x"}})
    with refused(INVALID, "empty key"):
        put("")
    with refused(INVALID, "wrong type of a key of an index"):
        put("strict", slot=n(1))


@check
def time_to_live():
    """a time to live can be set and is described"""
    dynamodb.update_time_to_live(
        TableName=TABLE, TimeToLiveSpecification={"Enabled": True, "AttributeName": "expires_at"}
    )
    described = dynamodb.describe_time_to_live(TableName=TABLE)["TimeToLiveDescription"]
    equal(described["AttributeName"], "expires_at")
    equal(described["TimeToLiveStatus"] in ("ENABLED", "ENABLING"), True)


# Many at once


@check
def parallel_counts():
    """64 writers lose no count"""
    def work(_):
        for _ in range(10):
            update("parallel", "ADD hits :one", {":one": n(1)})

    with ThreadPoolExecutor(64) as pool:
        list(pool.map(work, range(64)))
    equal(get("parallel")["hits"], n(640))


@check
def races():
    """of 64 racing puts under a condition exactly one wins"""
    def attempt(place):
        try:
            put("race", place, condition=ABSENT)
            return 1
        except ClientError as error:
            equal(error.response["Error"]["Code"], FAILED)
            return 0

    with ThreadPoolExecutor(64) as pool:
        for number in range(10):
            equal(sum(pool.map(attempt, [str(number)] * 64)), 1)


@check
def gone():
    """a table that is deleted is gone"""
    dynamodb.delete_table(TableName=TABLE)
    for _ in range(50):
        try:
            dynamodb.describe_table(TableName=TABLE)
        except ClientError as error:
            equal(error.response["Error"]["Code"], "ResourceNotFoundException")
            return
        time.sleep(0.1)
    raise AssertionError("the table is still there after 5 s")


run()
