"""What Recado needs of SQS, checked on any endpoint: sqs_fifo.py ENDPOINT_URL

Each check makes its own queues. The codes are those of AWS.
"""

import json
import threading
import time
import uuid

from runner import between, check, client, equal, refused, run

sqs = client("sqs")

INVALID = "InvalidParameterValue"
GONE = "AWS.SimpleQueueService.NonExistentQueue"
PREFIX = "AWS.SimpleQueueService."
PRINTABLE = "".join(map(chr, range(ord("!"), ord("~") + 1)))


def queue(fifo=True, **attributes):
    """A new queue; gives its URL."""
    name = "check-" + uuid.uuid4().hex[:12] + (".fifo" if fifo else "")
    given = {key: json.dumps(value) if isinstance(value, dict) else str(value) for key, value in attributes.items()}
    if fifo:
        given["FifoQueue"] = "true"
    return sqs.create_queue(QueueName=name, Attributes=given)["QueueUrl"]


def attributes_of(url, *names):
    return sqs.get_queue_attributes(QueueUrl=url, AttributeNames=names or ("All",))["Attributes"]


def dead_letters_to(url, receives):
    return {"deadLetterTargetArn": attributes_of(url, "QueueArn")["QueueArn"], "maxReceiveCount": receives}


def send(url, body, group=None, dedup=None, **more):
    if group is not None:
        more["MessageGroupId"] = group
    if dedup is not None:
        more["MessageDeduplicationId"] = dedup
    return sqs.send_message(QueueUrl=url, MessageBody=body, **more)


def tick(url, group, body):
    """The usual message: its body is its deduplication id."""
    return send(url, body, group, body)


def receive(url, most=10, wait=0, **more):
    answer = sqs.receive_message(
        QueueUrl=url, MaxNumberOfMessages=most, WaitTimeSeconds=wait, AttributeNames=["All"], **more
    )
    return answer.get("Messages", [])


def bodies(messages):
    return [message["Body"] for message in messages]


def delete(url, message):
    sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])


def hold(url, message, seconds):
    sqs.change_message_visibility(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"], VisibilityTimeout=seconds)


# Groups and order


@check
def order():
    """a group comes in the order it was sent"""
    url = queue()
    for number in range(7):
        tick(url, "g", str(number))
    seen = []
    while messages := receive(url, most=3):
        seen += bodies(messages)
        for message in messages:
            delete(url, message)
    equal(seen, list("0123456"))


@check
def exclusive():
    """a message that is out closes its group, and no other"""
    url = queue()
    tick(url, "a", "a1"), tick(url, "a", "a2"), tick(url, "b", "b1")
    (first,) = receive(url, most=1)
    equal(bodies(receive(url)), ["b1"])
    delete(url, first)
    equal(bodies(receive(url)), ["a2"])


@check
def exclusive_for_new():
    """a message that comes later waits behind its group, too"""
    url = queue()
    tick(url, "a", "a1")
    equal(bodies(receive(url)), ["a1"])
    tick(url, "a", "a2")
    equal(receive(url), [])


@check
def exclusive_while_one_of_two_is_out():
    """a group stays closed while one message of the receive is out"""
    url = queue()
    tick(url, "a", "a1"), tick(url, "a", "a2")
    first, second = receive(url)
    hold(url, first, 0)
    equal(receive(url), [])
    delete(url, second)
    equal(bodies(receive(url)), ["a1"])


@check
def one_by_default():
    """a receive that names no number gets one message"""
    url = queue()
    tick(url, "a", "a1"), tick(url, "a", "a2")
    equal(bodies(sqs.receive_message(QueueUrl=url)["Messages"]), ["a1"])


# Visibility


@check
def head_again():
    """what is not deleted comes back first, counted"""
    url = queue(VisibilityTimeout=1)
    tick(url, "a", "a1"), tick(url, "a", "a2")
    (first,) = receive(url, most=1)
    (again,) = receive(url, most=1, wait=4)
    equal(again["Body"], "a1")
    equal(first["Attributes"]["ApproximateReceiveCount"], "1")
    equal(again["Attributes"]["ApproximateReceiveCount"], "2")
    key = "ApproximateFirstReceiveTimestamp"
    equal(again["Attributes"][key], first["Attributes"][key])


@check
def give_back():
    """a visibility of 0 gives a message back at once"""
    url = queue()
    tick(url, "a", "a1"), tick(url, "a", "a2")
    (first,) = receive(url, most=1)
    hold(url, first, 0)
    equal(bodies(receive(url, most=1)), ["a1"])


@check
def extend():
    """a visibility is extended to the whole second"""
    url = queue(VisibilityTimeout=1)
    tick(url, "a", "a1")
    (first,) = receive(url)
    begun = time.monotonic()
    hold(url, first, 3)
    time.sleep(1.5)
    equal(receive(url), [])
    equal(bodies(receive(url, wait=6)), ["a1"])
    between(time.monotonic() - begun, 2.7, 4.5)


@check
def visibility_of_a_receive():
    """a receive may name its own visibility"""
    url = queue(VisibilityTimeout=600)
    tick(url, "a", "a1")
    receive(url, VisibilityTimeout=0)
    equal(bodies(receive(url, VisibilityTimeout=1)), ["a1"])
    equal(bodies(receive(url, wait=4)), ["a1"])


@check
def visibility_range():
    """a visibility is 0 to 43200 whole seconds, twelve hours in all"""
    url = queue()
    tick(url, "a", "a1")
    (first,) = receive(url)
    for seconds in (-1, 43201):
        with refused(INVALID, seconds):
            hold(url, first, seconds)
    time.sleep(0.1)
    with refused(INVALID, "total"):
        hold(url, first, 43200)
    hold(url, first, 43199)


@check
def visibility_of_nothing():
    """the visibility of a deleted message cannot be changed"""
    url = queue()
    tick(url, "a", "a1")
    (first,) = receive(url)
    delete(url, first)
    with refused(INVALID):
        hold(url, first, 5)


# Receipts


@check
def stale_receipt():
    """a receipt whose time is over deletes nothing on FIFO"""
    url = queue(VisibilityTimeout=1)
    tick(url, "a", "a1")
    (first,) = receive(url)
    time.sleep(1.2)
    with refused(INVALID, "not received again"):
        delete(url, first)
    (second,) = receive(url)
    with refused(INVALID, "received again"):
        delete(url, first)
    delete(url, second)
    equal(receive(url, wait=2), [])


@check
def delete_twice():
    """a second delete of the same message is no error"""
    url = queue()
    tick(url, "a", "a1")
    (first,) = receive(url)
    delete(url, first), delete(url, first)


@check
def wrong_receipt():
    """nonsense for a receipt is told apart"""
    url = queue()
    nonsense = {"ReceiptHandle": "nonsense"}
    for call in (lambda: delete(url, nonsense), lambda: hold(url, nonsense, 1)):
        with refused("ReceiptHandleIsInvalid"):
            call()


# Deduplication


@check
def dedup():
    """a repeated id is not sent again, and gets the first answer"""
    url = queue()
    first, second = send(url, "one", "g", "d"), send(url, "two", "g", "d")
    equal(bodies(receive(url)), ["one"])
    for key in ("MessageId", "SequenceNumber"):
        equal(second[key], first[key])


@check
def dedup_after_delete():
    """an id is remembered after its message is deleted"""
    url = queue()
    send(url, "one", "g", "d")
    (first,) = receive(url)
    delete(url, first)
    send(url, "two", "g", "d")
    equal(receive(url), [])


@check
def dedup_scope():
    """an id reaches over the queue, or over its group where the queue says so"""
    for scope, expected in (("queue", ["a"]), ("messageGroup", ["a", "b"])):
        url = queue(DeduplicationScope=scope)
        send(url, "a", "g1", "d"), send(url, "b", "g2", "d")
        equal(sorted(bodies(receive(url))), expected, scope)


@check
def dedup_by_content():
    """content-based deduplication goes by the body alone"""
    url = queue(ContentBasedDeduplication="true")
    word = {"k": {"DataType": "String", "StringValue": "v"}}
    send(url, "x", "g"), send(url, "x", "g", MessageAttributes=word), send(url, "y", "g")
    equal(bodies(receive(url)), ["x", "y"])


@check
def ids_needed():
    """a FIFO message needs a group and a deduplication id"""
    url = queue()
    with refused(INVALID):
        send(url, "x", "g")
    with refused("MissingParameter"):
        send(url, "x", None, "d")


@check
def id_lengths():
    """ids hold 128 characters of printable ASCII"""
    url = queue()
    send(url, "1", "g" * 128, "d" * 128)
    send(url, "2", PRINTABLE, PRINTABLE)
    equal(sorted(bodies(receive(url))), ["1", "2"])
    for label, bad in (("129 characters", "g" * 129), ("a space", "g g"), ("an accent", "gé")):
        with refused(INVALID, f"group of {label}"):
            send(url, "x", bad, "d")
        with refused(INVALID, f"id of {label}"):
            send(url, "x", "g", bad)


# Delay


@check
def fifo_delay():
    """a FIFO queue's delay holds each message for its own time"""
    url = queue(DelaySeconds=2)
    begun = time.monotonic()
    tick(url, "g", "x")
    equal(receive(url), [])
    equal(attributes_of(url)["ApproximateNumberOfMessagesDelayed"], "1")
    time.sleep(1)
    tick(url, "g", "y")
    equal(bodies(receive(url, wait=5)), ["x"])
    between(time.monotonic() - begun, 1.8, 2.9)


@check
def fifo_delay_reaches_back():
    """changing a FIFO queue's delay reaches messages that are there"""
    url = queue(DelaySeconds=900)
    tick(url, "g", "x")
    sqs.set_queue_attributes(QueueUrl=url, Attributes={"DelaySeconds": "0"})
    equal(bodies(receive(url, wait=2)), ["x"])


@check
def fifo_delay_of_a_message():
    """a FIFO message with a delay of its own is refused"""
    with refused(INVALID):
        send(queue(), "x", "g", "d", DelaySeconds=3)


@check
def standard_delay():
    """a standard message may have a delay of its own"""
    url = queue(fifo=False, DelaySeconds=60)
    begun = time.monotonic()
    send(url, "late", DelaySeconds=1), send(url, "now", DelaySeconds=0), send(url, "much later")
    equal(bodies(receive(url)), ["now"])
    equal(bodies(receive(url, wait=5)), ["late"])
    between(time.monotonic() - begun, 0.8, 2.5)


# Long poll


@check
def long_poll_wakes():
    """a long poll ends when a message comes"""
    url = queue()
    begun = time.monotonic()
    sender = threading.Timer(0.5, lambda: tick(url, "g", "x"))
    sender.start()
    equal(bodies(receive(url, wait=10)), ["x"])
    sender.join()
    between(time.monotonic() - begun, 0.4, 2.5)


@check
def long_poll_wakes_for_a_group():
    """a long poll ends when a group opens again"""
    url = queue()
    tick(url, "g", "x"), tick(url, "g", "y")
    (first,) = receive(url, most=1)
    begun = time.monotonic()
    opener = threading.Timer(0.5, lambda: delete(url, first))
    opener.start()
    equal(bodies(receive(url, wait=10)), ["y"])
    opener.join()
    between(time.monotonic() - begun, 0.4, 2.5)


@check
def long_poll_waits():
    """a long poll of an empty queue lasts as long as the call, or the queue, says"""
    url = queue(ReceiveMessageWaitTimeSeconds=1)
    for wait, given in ((2, {"WaitTimeSeconds": 2}), (1, {})):
        begun = time.monotonic()
        equal(sqs.receive_message(QueueUrl=url, **given).get("Messages", []), [])
        between(time.monotonic() - begun, wait - 0.3, wait + 1.5)


@check
def receive_ranges():
    """a receive out of its ranges is refused"""
    url = queue()
    for most, wait in ((0, 0), (11, 0), (1, 21), (1, -1)):
        with refused(INVALID, f"{most} messages, {wait} s"):
            receive(url, most=most, wait=wait)


# Dead letters


@check
def dead_letters():
    """a FIFO message received too often becomes a dead letter, and its group goes on"""
    dead = queue()
    url = queue(VisibilityTimeout=1, RedrivePolicy=dead_letters_to(dead, 2))
    tick(url, "g", "x"), tick(url, "g", "y")
    for expected in ("x", "x", "y"):
        equal(bodies(receive(url, most=1, wait=4)), [expected])
    (letter,) = receive(dead, wait=2)
    equal(letter["Body"], "x")
    equal(letter["Attributes"]["MessageGroupId"], "g")
    equal(letter["Attributes"]["DeadLetterQueueSourceArn"], attributes_of(url)["QueueArn"])


@check
def dead_letters_go_back():
    """dead letters are sent back to where they came from"""
    dead = queue(fifo=False)
    url = queue(fifo=False, VisibilityTimeout=0, RedrivePolicy=dead_letters_to(dead, 1))
    send(url, "x")
    equal(bodies(receive(url)), ["x"])
    equal(receive(url), [])
    sqs.start_message_move_task(SourceArn=attributes_of(dead)["QueueArn"])
    equal(bodies(receive(url, wait=4)), ["x"])
    with refused(INVALID, "not a dead-letter queue"):
        sqs.start_message_move_task(SourceArn=attributes_of(url)["QueueArn"])


@check
def dead_letter_policy():
    """a dead-letter policy must name a queue of the same kind"""
    standard = queue(fifo=False)
    with refused(INVALID, "other kind"):
        queue(RedrivePolicy=dead_letters_to(standard, 1))
    missing = {"deadLetterTargetArn": attributes_of(standard)["QueueArn"] + "x", "maxReceiveCount": 1}
    with refused(INVALID, "missing"):
        queue(fifo=False, RedrivePolicy=missing)


# Batches


@check
def batches():
    """a batch of sends, holds and deletes answers for each entry"""
    url = queue()
    entries = [
        {"Id": f"e{n}", "MessageBody": str(n), "MessageGroupId": f"g{n % 2}", "MessageDeduplicationId": str(min(n, 3))}
        for n in range(5)
    ]
    entries.append({"Id": "bad", "MessageBody": "x", "MessageGroupId": "two words", "MessageDeduplicationId": "b"})
    answer = sqs.send_message_batch(QueueUrl=url, Entries=entries)
    equal([entry["Id"] for entry in answer["Successful"]], ["e0", "e1", "e2", "e3", "e4"])
    equal([(entry["Id"], entry["Code"], entry["SenderFault"]) for entry in answer["Failed"]], [("bad", INVALID, True)])
    equal(answer["Successful"][4]["MessageId"], answer["Successful"][3]["MessageId"])
    messages = receive(url)
    equal(sorted(bodies(messages)), list("0123"))

    receipts = [{"Id": str(n), "ReceiptHandle": m["ReceiptHandle"]} for n, m in enumerate(messages)]
    receipts.append({"Id": "bad", "ReceiptHandle": "nonsense"})
    holds = [dict(entry, VisibilityTimeout=60) for entry in receipts]
    for answer in (
        sqs.change_message_visibility_batch(QueueUrl=url, Entries=holds),
        sqs.delete_message_batch(QueueUrl=url, Entries=receipts),
    ):
        equal([entry["Id"] for entry in answer["Successful"]], list("0123"))
        equal([(entry["Id"], entry["Code"]) for entry in answer["Failed"]], [("bad", "ReceiptHandleIsInvalid")])


@check
def batch_rules():
    """a batch that breaks a rule is refused as a whole"""
    url = queue()

    def entries(ids, body="x"):
        return [
            {"Id": name, "MessageBody": body, "MessageGroupId": "g", "MessageDeduplicationId": str(n)}
            for n, name in enumerate(ids)
        ]

    for code, given in (
        ("EmptyBatchRequest", []),
        ("TooManyEntriesInBatchRequest", entries("abcdefghijk")),
        ("BatchEntryIdsNotDistinct", entries("aba")),
        ("InvalidBatchEntryId", entries(["a b"])),
        ("InvalidBatchEntryId", entries(["a" * 81])),
        ("BatchRequestTooLong", entries("ab", "x" * 600_000)),
    ):
        with refused(PREFIX + code):
            sqs.send_message_batch(QueueUrl=url, Entries=given)
    equal(receive(url), [])


# Messages


@check
def whole():
    """a message arrives whole; the client verifies its sums"""
    url = queue()
    words = {
        "text": {"DataType": "String.place", "StringValue": "São Luís"},
        "count": {"DataType": "Number", "StringValue": "-1.5"},
        "bytes.raw": {"DataType": "Binary", "BinaryValue": b"\x00\xff"},
    }
    sent = send(url, "olá 👋\n<&>\t\ufffd", "g", "d", MessageAttributes=words)
    (message,) = receive(url, MessageAttributeNames=["All"], VisibilityTimeout=0)
    equal(message["Body"], "olá 👋\n<&>\t\ufffd")
    equal(message["MessageId"], sent["MessageId"])
    equal(message["MessageAttributes"], words)
    equal(message["MD5OfMessageAttributes"], sent["MD5OfMessageAttributes"])
    system = message["Attributes"]
    equal((system["MessageGroupId"], system["MessageDeduplicationId"]), ("g", "d"))
    equal(system["SequenceNumber"], sent["SequenceNumber"])
    between(time.time() - int(system["SentTimestamp"]) / 1000, -1, 10)
    (message,) = receive(url, MessageAttributeNames=["bytes.*"])
    equal(list(message["MessageAttributes"]), ["bytes.raw"])


@check
def sequence():
    """sequence numbers grow"""
    url = queue()
    numbers = [int(tick(url, f"g{n}", str(n))["SequenceNumber"]) for n in range(3)]
    equal(numbers, sorted(set(numbers)))


@check
def body_rules():
    """a body is neither empty, nor over its limit, nor of characters that XML does not have"""
    url = queue(fifo=False)
    with refused("MissingParameter", "empty"):
        send(url, "")
    for character in ("\x00", "\x0b", "\x1f", "\ufffe"):
        with refused("InvalidMessageContents", repr(character)):
            send(url, "x" + character)
    with refused(INVALID, "one byte too many"):
        send(url, "x" * 1_048_577)
    send(url, "x" * 1_048_576)
    small = queue(fifo=False, MaximumMessageSize=1024)
    with refused(INVALID, "over the queue's own limit"):
        send(small, "x" * 1025)


# Queues


@check
def counts():
    """a queue counts what is visible, in flight and delayed"""
    url = queue()
    tick(url, "a", "1"), tick(url, "b", "2")
    receive(url, most=1)
    known = attributes_of(url)
    keys = ["ApproximateNumberOfMessages" + state for state in ("", "NotVisible", "Delayed")]
    equal([known[key] for key in keys], ["1", "1", "0"])
    sqs.purge_queue(QueueUrl=url)
    equal([attributes_of(url)[key] for key in keys], ["0", "0", "0"])


@check
def attributes():
    """a queue's attributes are kept, rendered and held to their ranges"""
    given = {
        "DelaySeconds": "900",
        "VisibilityTimeout": "150",
        "MessageRetentionPeriod": "1209600",
        "ReceiveMessageWaitTimeSeconds": "20",
        "DeduplicationScope": "messageGroup",
        "FifoThroughputLimit": "perMessageGroupId",
    }
    url = queue(**given)
    known = attributes_of(url)
    equal({key: known[key] for key in given}, given)
    sqs.set_queue_attributes(QueueUrl=url, Attributes={"DelaySeconds": "5"})
    equal(attributes_of(url, "DelaySeconds"), {"DelaySeconds": "5"})
    for key, value in (("DelaySeconds", "901"), ("VisibilityTimeout", "43201"), ("VisibilityTimeout", "1.5")):
        with refused("InvalidAttributeValue", f"{key} = {value}"):
            sqs.set_queue_attributes(QueueUrl=url, Attributes={key: value})
    with refused("InvalidAttributeName"):
        sqs.set_queue_attributes(QueueUrl=url, Attributes={"Colour": "blue"})


@check
def made_again():
    """a queue can be made again if it is the same"""
    url = queue(DelaySeconds=5)
    name = url.rsplit("/", 1)[1]
    same = {"FifoQueue": "true", "DelaySeconds": "5"}
    equal(sqs.create_queue(QueueName=name, Attributes=same)["QueueUrl"], url)
    with refused("QueueAlreadyExists"):
        sqs.create_queue(QueueName=name, Attributes=dict(same, DelaySeconds="6"))


@check
def names():
    """a FIFO queue's name ends in .fifo, and no other's"""
    for name, given in (("plain", {"FifoQueue": "true"}), ("check.fifo", {}), ("a b", {}), ("a" * 81, {})):
        with refused(INVALID, name):
            sqs.create_queue(QueueName=name, Attributes=given)


@check
def found_and_gone():
    """a queue is found by name and in the list, until it is deleted"""
    url = queue()
    name = url.rsplit("/", 1)[1]
    equal(sqs.get_queue_url(QueueName=name)["QueueUrl"], url)
    equal(sqs.list_queues(QueueNamePrefix=name)["QueueUrls"], [url])
    sqs.delete_queue(QueueUrl=url)
    for call in (
        lambda: sqs.get_queue_url(QueueName=name),
        lambda: receive(url),
        lambda: tick(url, "g", "x"),
        lambda: sqs.purge_queue(QueueUrl=url),
    ):
        with refused(GONE):
            call()


@check
def never_twice_at_once():
    """under eight clients each message is handled once, in order, never two of a group at once"""
    url = queue()
    for number in range(60):
        tick(url, f"g{number % 6}", str(number))
    lock, busy, seen, problems = threading.Lock(), set(), {}, []

    def work():
        while messages := receive(url, most=1, wait=1):
            (message,) = messages
            group = message["Attributes"]["MessageGroupId"]
            with lock:
                if group in busy:
                    problems.append(f"{group} given out twice at once")
                busy.add(group)
                seen.setdefault(group, []).append(int(message["Body"]))
            time.sleep(0.005)
            with lock:
                busy.discard(group)
            delete(url, message)

    workers = [threading.Thread(target=work) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    equal(problems, [])
    equal(seen, {f"g{group}": list(range(group, 60, 6)) for group in range(6)})


run()
