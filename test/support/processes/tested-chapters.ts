// The chapters of documents whose blocks a test runs. All other blocks are marked as examples: "```sh example".

/** Chapters by document; `all`: every chapter. */
export const TESTED_CHAPTERS: Readonly<Record<string, readonly string[] | 'all'>> = {
  'docs/api/changes.md': ['Try it'],
  'docs/api/first-requests.md': ['Publish a project and download its file'],
  'docs/api/clients/generated.md': 'all',
  'docs/api/manage-a-team.md': 'all',
  'docs/api/resolve.md': ['Try it'],
  'docs/api/tokens.md': 'all',
  'docs/api/uploads.md': ['Upload with curl'],
  'docs/api/v2.md': ['Serve the built-in host names'],
  'docs/api/webhooks.md': ['Try it'],
  'docs/operators/install.md': ['Checksums', 'Debian package', 'npm package'],
  'docs/operators/mirrors.md': ['Copy and follow', 'Move one project', 'Import a pack', 'Export the catalogue'],
  'docs/operators/operating.md': 'all',
  'docs/operators/scaling.md': ['More cores of one machine'],
  'docs/publishers/advisories.md': ['Try it'],
  'docs/publishers/publish-command.md': ['Publish with two commands', 'Try it'],
  'docs/publishers/trusted-publishing.md': 'all',
  'docs/publishers/withdrawal.md': ['Try it', 'Consequences of a withdrawal'],
}

export function isTested(document: string, chapter: string): boolean {
  const chapters = TESTED_CHAPTERS[document]
  return chapters === 'all' || chapters?.includes(chapter) === true
}

/** A block of code in a document. `info` is the text after the backticks, `chapter` the heading of the second level. */
export type Block = { line: number; info: string; chapter: string; content: string }

/** Returns the blocks of a document in their order. */
export function blocksOf(text: string): Block[] {
  const blocks: Block[] = []
  let chapter = ''
  let open: Block | undefined
  for (const [n, line] of text.split('\n').entries()) {
    const [, info] = /^\s*```(.*)$/.exec(line) ?? []
    if (open !== undefined && info === '') open = undefined
    else if (open !== undefined) open.content += `${line}\n`
    else if (info !== undefined) {
      open = { line: n + 1, info: info.trim(), chapter, content: '' }
      blocks.push(open)
    } else chapter = /^## (.+)$/.exec(line)?.[1] ?? chapter
  }
  return blocks
}
