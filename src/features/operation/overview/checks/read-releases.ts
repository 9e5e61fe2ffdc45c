// Reads the feed of releases that the operator has enabled.
import semver from 'semver'
import Type from 'typebox'
import Value from 'typebox/value'
import { MIB } from '#lib/text/sizes.ts'
import { readJsonWithin } from '#platform/outgoing/read-json.ts'
import type { Deps } from '#ports/deps.ts'
import { saveCheck } from './queries.ts'

/** A page of releases with long notes. */
const LIMITS = { totalMs: 30_000, bytes: 4 * MIB }

/** A release in the API of GitHub, Forgejo and Gitea. */
const Release = Type.Object({
  tag_name: Type.String({ maxLength: 64 }),
  html_url: Type.String({ pattern: '^https://', maxLength: 2048 }),
  draft: Type.Optional(Type.Boolean()),
  prerelease: Type.Optional(Type.Boolean()),
})

/**
 * Stores the newest release of `RELEASES_URL`, if it is set. Drafts, previews and entries that cannot be read are skipped.
 * @throws Error if the service does not respond with a release or a list of releases.
 */
export async function readReleases(deps: Pick<Deps, 'db' | 'config' | 'now'>, signal: AbortSignal): Promise<void> {
  const { releasesUrl } = deps.config
  if (releasesUrl === undefined) return
  const feed = await readJsonWithin(releasesUrl, { limits: LIMITS, signal })
  const releases = (Array.isArray(feed) ? feed : [feed]).flatMap((entry) => {
    if (!Value.Check(Release, entry) || entry.draft === true || entry.prerelease === true) return []
    const version = semver.valid(entry.tag_name)
    return version === null ? [] : [{ version, url: entry.html_url }]
  })
  const [newest] = releases.sort((a, b) => semver.rcompare(a.version, b.version))
  if (newest === undefined) throw new Error('RELEASES_URL must lead to a release or a list of releases')
  await saveCheck(deps.db, 'release', { value: newest, at: new Date(deps.now()) })
}
