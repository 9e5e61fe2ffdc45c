"""Uploads a file in parts, and remembers the upload in a file. Stops after DEPOT_PARTS parts, if it is set."""

import os

from tusclient.client import TusClient
from tusclient.storage.filestorage import FileStorage

client = TusClient(f"{os.environ['DEPOT_URL']}/v3/upload", headers={"Authorization": os.environ["DEPOT_TOKEN"]})
uploader = client.uploader(
    os.environ["DEPOT_FILE"],
    chunk_size=int(os.environ["DEPOT_PART_BYTES"]),
    metadata={"filename": "lantern.jar"},
    retries=10,
    retry_delay=0.1,
    store_url=True,
    url_storage=FileStorage(os.environ["DEPOT_STORAGE"]),
    upload_checksum=True,
)
start = uploader.offset
for _ in range(int(os.environ.get("DEPOT_PARTS", "1000"))):
    if uploader.offset < uploader.get_file_size():
        uploader.upload_chunk()
print(start, uploader.offset, uploader.url)
