"""Verifies a message of a webhook. Exits with 3 if the library rejects the message."""

import json
import os
import sys

from standardwebhooks.webhooks import Webhook, WebhookVerificationError

message = json.loads(os.environ["DEPOT_MESSAGE"])
try:
    content = Webhook(os.environ["DEPOT_SECRET"]).verify(message["body"], message["headers"])
except WebhookVerificationError as error:
    print(error)
    sys.exit(3)
print(content["type"])
