"""Reads an Atom feed twice: whole, and only if it changed. Prints what a feed reader shows."""

import json
import os

import feedparser

url = os.environ["DEPOT_FEED"]
feed = feedparser.parse(url)
assert feed.status == 200, feed.status
assert not feed.bozo, feed.bozo_exception
assert feed.version == "atom10", feed.version
assert feed.namespaces[""] == "http://www.w3.org/2005/Atom", feed.namespaces

again = feedparser.parse(url, etag=feed.etag, modified=feed.get("modified"))
assert again.status == 304, again.status
assert again.entries == []

print(
    json.dumps(
        {
            "title": feed.feed.title,
            "links": [[link.rel, link.href] for link in feed.feed.links],
            "entries": [
                {
                    "id": entry.id,
                    "title": entry.title,
                    "link": entry.link,
                    "author": entry.author,
                    "published": list(entry.published_parsed[:6]),
                    "updated": list(entry.updated_parsed[:6]),
                    "html": entry.content[0].value if "content" in entry else None,
                    "files": [[file.href, file.type, file.length] for file in entry.enclosures],
                }
                for entry in feed.entries
            ],
        }
    )
)
