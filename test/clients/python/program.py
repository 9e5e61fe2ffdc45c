"""The wrapper for Python: reading, with answers held against its own models."""

import os

from modrinth_api_wrapper import Client

client = Client(token=os.environ["DEPOT_TOKEN"], endpoint=os.environ["DEPOT_URL"])
anyone = Client(endpoint=os.environ["DEPOT_URL"])
slug, version_id, sha1 = (os.environ[name] for name in ("DEPOT_PROJECT", "DEPOT_VERSION", "DEPOT_SHA1"))

project = client.get_project(slug)
assert project.slug == slug, project
assert [each.id for each in anyone.get_projects([project.id, slug])] == [project.id]
found = anyone.search_project(query=project.title, facets='[["categories:fabric"]]', limit=5)
assert project.id in [hit.project_id for hit in found.hits], found
assert [version.id for version in anyone.list_project_versions(slug)] == [version_id]
assert client.get_version(version_id).project_id == project.id
assert len(client.get_versions([version_id])) == 1
assert client.get_version_from_hash(sha1=sha1).id == version_id
assert client.get_versions_from_hashes([sha1], "sha1")[sha1].id == version_id
assert client.get_latest_version_from_hash(sha1=sha1, loaders=["fabric"]).id == version_id
assert client.get_latest_versions_from_hashes([sha1], "sha1", ["fabric"], ["1.20.1"])[sha1].id == version_id
assert any(loader["name"] == "fabric" for loader in anyone.get_tag("loader"))
