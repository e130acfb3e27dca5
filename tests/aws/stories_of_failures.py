"""What is missing or wrong on the deployed functions: told in one line, answered 5xx, and nothing lost once mended."""

import time

import webhook
from report import equal, eventually
from stack import APP_SECRET, MODEL_KEY, TOKEN
from stories_of_turns import PATIENCE_S, write

NEW_SECRET = "fedcba9876543210fedcba9876543210"
VERIFY_TOKEN = "a word of ours"


def told_once(lines, *parts):
    """There is one error line, and it holds all of these."""
    equal(len(lines), 1, str(lines))
    for part in parts:
        assert part in str(lines[0]), f"{part!r} is not in {lines[0]}"


def a_new_stack_says_which_secret_is_missing(stack):
    """Right after the deployment: 503 and one line that names the key; taken once the key is there."""
    event = webhook.message(APP_SECRET, "5511900000001", "wamid.first", "tem alguém aí?")
    status, errors = stack.webhook(event)
    equal(status, 503)
    told_once(errors, "meta_app_secret")
    stack.put_secret(meta_app_secret=APP_SECRET, meta_verify_token=VERIFY_TOKEN)
    eventually(lambda: stack.webhook(event)[0] == 200, 75, "the webhook is taken")


def without_keys_a_tick_is_held_and_then_answered(stack):
    """No model key and no token: nobody is answered, the tick waits; with both, it is answered once."""
    def held():
        stack.emulator.log.flush()
        return "model_key" in open(stack.emulator.log.name, encoding="utf-8").read()

    eventually(held, PATIENCE_S, "the processor says what it lacks")
    equal((len(stack.model.requests), len(stack.graph.requests)), (0, 0), "calls and sends")
    stack.put_secret(model_key=MODEL_KEY, meta_access_token=TOKEN)
    eventually(lambda: stack.sends_to("5511900000001"), 130, "an answer once the keys are there")
    stack.settle(8)
    equal((len(stack.calls_of("tem alguém aí")), len(stack.sends_to("5511900000001"))), (1, 1), "calls and sends")


def the_handshake_is_answered(stack):
    """The GET of the webhook's settings at Meta: the challenge with the right word, 403 with another."""
    query = "hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token="
    answer, _ = stack.invoke("Ingest", webhook.event("GET", query=query + "a%20word%20of%20ours"))
    equal((answer["statusCode"], answer["body"]), (200, "1158201444"))
    answer, _ = stack.invoke("Ingest", webhook.event("GET", query=query + "guess"))
    equal(answer["statusCode"], 403)


def a_wrong_signature_is_refused(stack):
    """401, nothing stored, and no error line: anyone can send nonsense."""
    event = webhook.message(NEW_SECRET, "5511900000021", "wamid.forged", "forjado")
    equal(stack.webhook(event), (401, []))


def a_replaced_app_secret_is_used_without_a_deployment(stack):
    """Signed with a newer secret: 401 until it is stored, then taken within a minute, and the old one too."""
    event = webhook.message(NEW_SECRET, "5511900000022", "wamid.rotated", "assinado de novo")
    equal(stack.webhook(event)[0], 401)
    stack.put_secret(meta_app_secret=NEW_SECRET, meta_app_secret_previous=APP_SECRET)
    eventually(lambda: stack.webhook(event)[0] == 200, 75, "the new secret is used")
    write(stack, "5511900000022", ["e a antiga também"])
    eventually(lambda: stack.sends_to("5511900000022"), PATIENCE_S, "an answer")


def a_missing_table_is_told_and_nothing_is_lost(stack):
    """503 and one line with the setting; the same webhook is taken and answered afterwards."""
    event = webhook.message(APP_SECRET, "5511900000023", "wamid.tableless", "sem tabela")
    restore = stack.configure("Ingest", RECADO_TABLE="nowhere")
    try:
        status, errors = stack.webhook(event)
    finally:
        restore()
    equal(status, 503)
    told_once(errors, "table nowhere does not exist", "RECADO_TABLE")
    equal(stack.webhook(event), (200, []))
    eventually(lambda: stack.sends_to("5511900000023"), PATIENCE_S, "an answer")


def a_tick_that_was_never_sent_is_found_by_the_sweeper(stack):
    """A missing queue: 503 and one line; the message is stored, and the sweeper alone brings it to its answer."""
    event = webhook.message(APP_SECRET, "5511900000024", "wamid.tickless", "sem fila")
    url = stack.outputs["TicksQueueUrl"].replace("ticks", "nowhere")
    restore = stack.configure("Ingest", RECADO_TICKS_QUEUE_URL=url)
    try:
        status, errors = stack.webhook(event)
    finally:
        restore()
    equal(status, 503)
    told_once(errors, "no such queue", "RECADO_TICKS_QUEUE_URL")
    # Ceiling and grace: until then the sweeper leaves it to its own tick.
    time.sleep(51)

    def swept():
        stack.invoke("Sweeper", {})
        return stack.sends_to("5511900000024")

    eventually(swept, PATIENCE_S, "an answer by the sweeper")
    equal(len(stack.sends_to("5511900000024")), 1, "sends")


def a_refused_token_is_told_and_its_reply_waits(stack):
    """The Graph API refuses the token: one line with the key, and the reply goes out once the token is right."""
    stack.graph.key = "a-newer-token"
    write(stack, "5511900000026", ["e agora?"])

    def told():
        stack.emulator.log.flush()
        return 'the key \\"meta_access_token\\" is refused' in open(stack.emulator.log.name, encoding="utf-8").read()

    eventually(told, PATIENCE_S, "the processor says which key is refused")
    stack.put_secret(meta_access_token=stack.graph.key)
    eventually(lambda: stack.sends_to("5511900000026"), 150, "the reply")
    equal((len(stack.calls_of("e agora?")), len(stack.sends_to("5511900000026"))), (1, 1), "calls and sends")


def a_missing_setting_is_told(stack):
    """503 and one line with the setting and a right value."""
    restore = stack.configure("Ingest", RECADO_SECRET_ID="")
    try:
        status, errors = stack.webhook(webhook.message(APP_SECRET, "5511900000025", "wamid.unset", "oi"))
    finally:
        restore()
    equal(status, 503)
    told_once(errors, "RECADO_SECRET_ID: is not set; for instance RECADO_SECRET_ID=recado/secrets")


BEFORE_THE_SECRETS = [a_new_stack_says_which_secret_is_missing, without_keys_a_tick_is_held_and_then_answered]
AFTERWARDS = [
    the_handshake_is_answered,
    a_wrong_signature_is_refused,
    a_missing_setting_is_told,
    a_missing_table_is_told_and_nothing_is_lost,
    a_tick_that_was_never_sent_is_found_by_the_sweeper,
    a_replaced_app_secret_is_used_without_a_deployment,
    a_refused_token_is_told_and_its_reply_waits,
]
