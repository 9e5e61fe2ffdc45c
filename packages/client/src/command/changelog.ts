// The changelog: from a file, from standard input, or from the message of a Git tag.
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { type Settings, UsageError } from './settings.ts'
import { withoutMark } from './text-file.ts'

/** @throws UsageError if the file or the tag cannot be read. */
export async function readChangelog({ changelog, changelog_tag }: Settings, cwd: string): Promise<string | undefined> {
  if (changelog !== undefined && changelog_tag !== undefined) {
    throw new UsageError('Specify either a file or a tag for the changelog')
  }
  if (changelog === '-') return withoutMark(await text(process.stdin)).trim()
  if (changelog !== undefined) {
    const content = await readFile(resolve(cwd, changelog), 'utf8').catch(() => {
      throw new UsageError(`The changelog ${changelog} cannot be read`)
    })
    return withoutMark(content)
  }
  return changelog_tag === undefined ? undefined : readTag(changelog_tag, cwd)
}

async function readTag(tag: string, cwd: string): Promise<string> {
  const args = ['for-each-ref', '--format=%(objecttype)%00%(contents:subject)%00%(contents:body)', `refs/tags/${tag}`]
  const { stdout } = await promisify(execFile)('git', args, { cwd }).catch(() => {
    throw new UsageError('The message of the tag cannot be read, because this is not a Git repository')
  })
  const [type, subject = '', body = ''] = stdout.trimEnd().split('\0')
  if (type === '') throw new UsageError(`The tag ${tag} does not exist here. In CI, fetch tags with the checkout.`)
  if (type !== 'tag') throw new UsageError(`The tag ${tag} has no message. Create it with git tag --annotate.`)
  return [subject, body].join('\n\n').trim()
}
