"""Webhooks as Meta signs them and an HTTP API of AWS hands them over (payload format 2.0)."""

import base64
import hashlib
import hmac
import json
import time

NUMBER = "100000000000001"


def body(phone, message_id, text):
    """The bytes of one text message that was sent now."""
    message = {"from": phone, "id": message_id, "timestamp": str(int(time.time())), "type": "text", "text": {"body": text}}
    value = {
        "messaging_product": "whatsapp",
        "metadata": {"display_phone_number": "551140000001", "phone_number_id": NUMBER},
        "contacts": [{"profile": {"name": "Ana"}, "wa_id": phone}],
        "messages": [message],
    }
    entry = [{"id": "200000000000001", "changes": [{"field": "messages", "value": value}]}]
    return json.dumps({"object": "whatsapp_business_account", "entry": entry}).encode()


def signature(secret, raw):
    """The value of the header x-hub-signature-256."""
    return "sha256=" + hmac.new(secret.encode(), raw, hashlib.sha256).hexdigest()


def event(method, raw=b"", headers=None, query="", in_base64=False):
    """The event that the function gets for a request to /webhook/meta."""
    return {
        "version": "2.0",
        "routeKey": f"{method} /webhook/meta",
        "rawPath": "/webhook/meta",
        "rawQueryString": query,
        "headers": {"content-type": "application/json", **(headers or {})},
        "requestContext": {"stage": "$default", "http": {"method": method, "path": "/webhook/meta"}},
        "body": base64.b64encode(raw).decode() if in_base64 else raw.decode(),
        "isBase64Encoded": in_base64,
    }


def message(secret, phone, message_id, text, in_base64=False):
    """A signed message."""
    raw = body(phone, message_id, text)
    return event("POST", raw, {"x-hub-signature-256": signature(secret, raw)}, in_base64=in_base64)
