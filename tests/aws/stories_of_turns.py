"""Turns on the deployed functions: one burst is one answer, whatever happens on the way."""

import time

import webhook
from report import equal, eventually
from stack import APP_SECRET

# Window of the example agent, and what an emulator on a busy machine may need on top of it.
WINDOW_S = 5
PATIENCE_S = 40


def write(stack, phone, texts, gap_s=0):
    """Sends each text as a webhook of its own and expects it to be taken."""
    for number, text in enumerate(texts):
        if number:
            time.sleep(gap_s)
        message_id = f"wamid.{phone}.{abs(hash(text))}"
        status, errors = stack.webhook(webhook.message(APP_SECRET, phone, message_id, text))
        equal((status, errors), (200, []), text)


def answered(stack, phone):
    return eventually(lambda: stack.sends_to(phone), PATIENCE_S, f"an answer to {phone}")


def texts_of(call):
    return [part["text"] for turn in call["input"] if turn.get("role") == "user"
            for part in turn["content"] if isinstance(part, dict)]


def a_burst_is_one_turn(stack):
    """Three messages in one breath: one model call with all three, one send, no sooner than the window."""
    began = time.time()
    write(stack, "5511900000011", ["queria marcar", "para amanhã", "às dez"], gap_s=0.3)
    sends = answered(stack, "5511900000011")
    waited = time.time() - began
    assert waited >= WINDOW_S, f"answered after {waited:.1f} s, before the window ended"
    stack.settle(WINDOW_S + 2)
    calls = stack.calls_of("queria marcar")
    equal((len(calls), len(sends), len(stack.sends_to("5511900000011"))), (1, 1, 1), "calls and sends")
    words = " ".join(texts_of(calls[0]))
    for text in ("queria marcar", "para amanhã", "às dez"):
        assert text in words, f"{text!r} is not in the call"


def a_repeated_webhook_changes_nothing(stack):
    """The provider sends the same webhook again, in base64 too: no second answer."""
    event = webhook.message(APP_SECRET, "5511900000012", "wamid.twice", "um corte com navalha")
    for _ in range(2):
        equal(stack.webhook(event), (200, []))
    answered(stack, "5511900000012")
    again = webhook.message(APP_SECRET, "5511900000012", "wamid.twice", "um corte com navalha", in_base64=True)
    equal(stack.webhook(again), (200, []))
    stack.settle(WINDOW_S + 3)
    equal((len(stack.calls_of("um corte com navalha")), len(stack.sends_to("5511900000012"))), (1, 1), "calls and sends")


def a_person_remembers_being_answered(stack):
    """A second turn: the model is given the first one as history."""
    write(stack, "5511900000011", ["e onde fica?"])
    eventually(lambda: len(stack.sends_to("5511900000011")) == 2, PATIENCE_S, "a second answer")
    call = stack.calls_of("onde fica")[0]
    assert "queria marcar" in str(call["input"]), "the first turn is not in the history"


def a_newer_message_supersedes_a_call(stack):
    """A message while the model works: the call is dropped, the next one holds both, one send."""
    stack.model.delay_s = 12
    try:
        write(stack, "5511900000013", ["quanto custa o corte?"])
        eventually(lambda: stack.calls_of("o corte"), PATIENCE_S, "the first call")
        stack.model.delay_s = 0
        write(stack, "5511900000013", ["e a barba?"])
        answered(stack, "5511900000013")
    finally:
        stack.model.delay_s = 0
    stack.settle(WINDOW_S + 8)
    equal(len(stack.sends_to("5511900000013")), 1, "sends")
    last = " ".join(texts_of(stack.calls_of("a barba")[-1]))
    assert "o corte" in last and "a barba" in last, last


def a_processor_killed_while_it_thinks_answers_once(stack):
    """Killed in the middle of the model call: redelivered after its visibility, one send."""
    restore = stack.configure("Processor", timeout=30)
    stack.model.delay_s = 15
    try:
        write(stack, "5511900000014", ["ainda está aí?"])
        eventually(lambda: stack.calls_of("ainda está aí"), PATIENCE_S, "the first call")
        time.sleep(1)
        stack.model.delay_s = 0
        assert stack.kill("Processor") >= 1, "no process of the processor was found"
        eventually(lambda: stack.sends_to("5511900000014"), 90, "an answer after the crash")
    finally:
        stack.model.delay_s = 0
        restore()
    stack.settle(WINDOW_S + 3)
    equal((len(stack.calls_of("ainda está aí")), len(stack.sends_to("5511900000014"))), (2, 1), "calls and sends")


def a_processor_killed_while_it_sends_never_sends_twice(stack):
    """Killed after the Graph API had the message: the outcome is unknown, and it is not sent again."""
    restore = stack.configure("Processor", timeout=30)
    stack.graph.delay_s = 15
    try:
        write(stack, "5511900000015", ["manda o endereço"])
        answered(stack, "5511900000015")
        time.sleep(1)
        stack.graph.delay_s = 0
        assert stack.kill("Processor") >= 1, "no process of the processor was found"
        # Visibility at claim is the rest of the run and 5 s more.
        stack.settle(50)
    finally:
        stack.graph.delay_s = 0
        restore()
    equal((len(stack.calls_of("manda o endereço")), len(stack.sends_to("5511900000015"))), (1, 1), "calls and sends")
    write(stack, "5511900000015", ["recebi, obrigado"])
    eventually(lambda: len(stack.sends_to("5511900000015")) == 2, PATIENCE_S, "an answer to what comes next")


ALL = [
    a_burst_is_one_turn,
    a_repeated_webhook_changes_nothing,
    a_person_remembers_being_answered,
    a_newer_message_supersedes_a_call,
    a_processor_killed_while_it_thinks_answers_once,
    a_processor_killed_while_it_sends_never_sends_twice,
]
