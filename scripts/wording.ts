// `node_modules/.bin/node scripts/wording.ts [PATHS]`: lists texts that contain a phrase which the wording rules in
// CONTRIBUTING.md reject. test/rules/wording.test.ts runs the same check over the whole repository.

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')

type Kind = 'comment' | 'string' | 'message' | 'description' | 'document'
type Text = { where: string; kind: Kind; text: string }

type Rule = { pattern: RegExp; instead: string; kinds?: readonly Kind[]; except?: RegExp }

/** Every pattern names a phrase that a reader must read twice, or a second word for something that has a name. */
export const RULES: readonly Rule[] = [
  {
    pattern: /^(?:What|Which|Who|Whose|Whom) [^?]*$/,
    instead: 'name the subject',
    kinds: ['comment', 'string', 'message', 'description'],
  },
  {
    pattern: /^(?:Where|How|Why) [^?]*$/,
    instead: 'name the subject: “Maximum wait”, not “How long it waits”',
    kinds: ['comment'],
  },
  {
    pattern: /^(?:Those|Ones?|That|These) (?:of|that|which|who|in|with|without|to|from)\b/,
    instead: 'repeat the noun',
    kinds: ['comment', 'string', 'description'],
  },
  { pattern: /^Of (?!course)/, instead: 'start with the subject' },
  {
    pattern:
      /\b(?:of|for|from|by|with|in|on|than|as|to) what (?:is|are|was|were|has|had|it|its|they|the|an?|no|nobody|everybody|others?|comes|came|goes|stands|people|needs)\b/,
    instead: 'name the thing',
  },
  {
    pattern: /[,;:] what (?:is|was|has|had|comes|came|goes|stands|follows|everybody|nobody|others)\b/,
    instead: 'name the thing',
  },
  { pattern: /(?<!there )\b(?:is|are|was|were) none\b/i, instead: '“is not a …”' },
  {
    pattern: /(?<!there )\b(?:is|are|was|were) no (?!longer|more|less|different|matter|such|reason|other|\w+er than)/i,
    instead: '“is not a …”',
  },
  { pattern: /\b(?:ours|our own|of yours)\b/, instead: 'name the owner' },
  { pattern: /\bof (?:its|their|his|her|one's) own\b/, instead: 'its own …, a separate …' },
  { pattern: /\bwhoever\b/i, instead: 'name the actor' },
  { pattern: /\bat once\b/i, instead: 'immediately; at the same time' },
  { pattern: /\bmeanwhile\b(?!,)/i, instead: 'name the period' },
  { pattern: /\bbeside\b/i, instead: 'next to; in addition to; while … runs' },
  { pattern: /\bstands?\b(?!-in| for| alone| by| out| in for)/, instead: 'is, is listed, is shown' },
  { pattern: /\bgo(?:es)? on\b|\bgoing on\b|\bwent on\b/i, instead: 'continue' },
  { pattern: /\bas far as\b/i, instead: 'if; only those that' },
  { pattern: /\bbut for\b/, instead: 'except' },
  { pattern: /\bunder way\b/, instead: 'in progress' },
  { pattern: /\bunless said\b|\bif (?:wished|wanted)\b/, instead: 'default: …; optionally' },
  { pattern: /\b(?:is|are|was|were) to (?:be|have|go|stay|see)\b/, instead: 'must, will, can' },
  {
    pattern: /\bwhere there (?:is|are) (?:one|none|some|no|any)\b|\bwhere (?:one|it|they) (?:is|are) set\b/,
    instead: '“if”; “where” is for places',
  },
  {
    pattern: /\b(?:is|are|was|were|be|been) asked\b(?! to)|\basked (?:of|about|after)\b/,
    instead: 'requested, queried, checked',
  },
  { pattern: /\b(?:is|are|was|were|be|been) told\b/, instead: 'is notified, receives; distinguished' },
  {
    pattern: /\b(?:is|are|was|were|be|been) kept\b(?! (?:for|open|alive|private|secret|until))/,
    instead: 'cached, stored, retained',
  },
  {
    pattern: /\b(?:is|are|was|were|has|have|be) gone\b(?! (?:back|through))/,
    instead: 'deleted, missing, disconnected',
  },
  { pattern: /\b(?:is|are|was|were|be) away\b/, instead: 'unavailable' },
  { pattern: /\bso (?:many|much|long|few)\b(?! that| as| to)/, instead: 'state the limit or name it' },
  { pattern: /\bneighbours?\b/i, instead: 'other processes', except: /search-index|docs\/contributors\/search\.md/ },
  { pattern: /\b(?:lends?|lent|lending|borrow\w*)\b/i, instead: 'share, expose' },
  { pattern: /\b(?:takes?|took|taken) (?:\w+ ){0,4}back\b/i, instead: 'undo, reset' },
  { pattern: /\b(?:takes?|took|taken|taking) (?:\w+ ){0,2}out\b/i, instead: 'remove' },
  { pattern: /\bmend(?:s|ed|ing)?\b/, instead: 'fix' },
  {
    pattern:
      /\bmak(?:e|es|ing) (?:an? |the )?(?:new )?(?:account|token|invitation|application|collection|organization)s?\b/i,
    instead: 'create',
  },
  { pattern: /\bwire (?:shapes?|forms?)\b/i, instead: 'response schema' },
  { pattern: /\b(?:hold|holds|held) (?:\w+ ){0,3}against\b/, instead: 'compare with' },
  { pattern: /\bjudge[sd]?\b|\bjudging\b/i, instead: 'scan, rate, decide' },
  { pattern: /\bsa(?:ys?|id) of\b/, instead: 'describes, contains, reports' },
  { pattern: /\bquestions?\b/i, instead: 'query, request, task', except: /docs\/decisions/ },
  { pattern: /\b(?:heard?|hears?) of\b/, instead: 'receives a notification of' },
  { pattern: /\bbeginnings\b|\b(?:a|its|common|one) beginning\b/, instead: 'prefix' },
  {
    pattern: /\b(?:members|admins|moderators|sessions|operators|indexes|headers|administrators) alone\b/i,
    instead: 'only',
  },
  {
    pattern: /\b(?:answers?|requests?|responses?|pages?|mail) (?:has left|have left|leaves?|leave)\b/,
    instead: 'is sent',
  },
  { pattern: /\be-mails?\b(?!-Adresse)|\bmails\b/i, instead: 'email' },
  { pattern: /(?<!<\/?)\bpictures?\b/i, instead: 'image' },
]

/** Removes code spans, because these contain names, and quoted user input. */
const prose = (text: string): string =>
  text
    .replaceAll(/`[^`]*`/g, '`')
    .replaceAll(/\s+/g, ' ')
    .trim()

/** Comments and string literals of a TypeScript or JavaScript file. A block of line comments is one text. */
function textsOfCode(file: string, source: string): Text[] {
  const texts: Text[] = []
  let block: { line: number; lines: string[] } | undefined
  const flush = () => {
    if (block !== undefined)
      texts.push({ where: `${file}:${block.line}`, kind: 'comment', text: prose(block.lines.join(' ')) })
    block = undefined
  }
  for (const [index, line] of source.split('\n').entries()) {
    const comment = /^\s*(?:\/\/|\/\*\*?|\*\/|\*(?=\s|$))\s?(.*?)(?:\*\/)?$/.exec(line)
    if (comment !== null) {
      if (/^\s*\/\*\*/.test(line) || block === undefined) {
        flush()
        block = { line: index + 1, lines: [] }
      }
      block.lines.push(comment[1] ?? '')
      continue
    }
    flush()
    if (/^import |^} from '|\bsql`/.test(line)) continue
    for (const [, single, double, template] of line.matchAll(/'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|`([^`]*)`/g)) {
      const text = (single ?? double ?? template ?? '').replaceAll(/\$\{[^}]*\}/g, '`')
      if (
        /[A-Za-z]{2,} [A-Za-z]{2,}/.test(text) &&
        !/\b(?:select|insert into|update .* set|create|from|where) /.test(text)
      )
        texts.push({ where: `${file}:${index + 1}`, kind: 'string', text: prose(text) })
    }
    const trailing = /\s\/\/ (.+)$/.exec(line)
    if (trailing !== null)
      texts.push({ where: `${file}:${index + 1}`, kind: 'comment', text: prose(trailing[1] ?? '') })
  }
  flush()
  return texts
}

/** Paragraphs, list items and table rows of a Markdown file, without its code blocks. */
function textsOfDocument(file: string, source: string): Text[] {
  const texts: Text[] = []
  let isCode = false
  let paragraph: { line: number; lines: string[] } | undefined
  const flush = () => {
    if (paragraph !== undefined)
      texts.push({ where: `${file}:${paragraph.line}`, kind: 'document', text: prose(paragraph.lines.join(' ')) })
    paragraph = undefined
  }
  for (const [index, line] of source.split('\n').entries()) {
    if (/^\s*```/.test(line)) {
      flush()
      isCode = !isCode
      continue
    }
    if (isCode) continue
    if (line.trim() === '' || /^\s*(?:[-*|>]|\d+\.|#)/.test(line)) flush()
    if (line.trim() === '') continue
    paragraph ??= { line: index + 1, lines: [] }
    paragraph.lines.push(line.replace(/^\s*(?:[-*|>]|\d+\.|#+)\s*/, '').replaceAll(/\]\([^)]*\)/g, ']'))
    if (/^\s*[|#]/.test(line)) flush()
  }
  flush()
  return texts
}

function textsOfMessages(file: string, source: string): Text[] {
  return Object.entries(JSON.parse(source) as Record<string, string>).map(([key, text]) => ({
    where: `${file} ${key}`,
    kind: 'message' as const,
    text: prose(text),
  }))
}

/** Summaries and descriptions of an API description. */
function textsOfApi(file: string, source: string): Text[] {
  const texts = new Set<string>()
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    for (const [key, child] of Object.entries(value)) {
      if ((key === 'description' || key === 'summary') && typeof child === 'string') texts.add(child)
      else if (key !== 'examples' && key !== 'example') visit(child)
    }
  }
  visit(JSON.parse(source))
  return [...texts].map((text) => ({ where: file, kind: 'description', text: prose(text) }))
}

function textsOf(file: string): Text[] {
  const source = readFileSync(join(ROOT, file), 'utf8')
  if (file.includes('/messages/en/')) return textsOfMessages(file, source)
  if (/openapi[^/]*\.json$/.test(file)) return textsOfApi(file, source)
  if (file.endsWith('.md')) return textsOfDocument(file, source)
  return textsOfCode(file, source)
}

/** Files whose texts the rules apply to. Generated row types and the rules themselves are not among them. */
export function wordedFiles(): string[] {
  return globSync(
    [
      '{src,demo,test,scripts,bench}/**/*.{ts,mjs}',
      'bin/*.mjs',
      'src/web/ui/messages/en/*.json',
      'docs/generated/openapi*.json',
      '*.md',
      '{docs,migrations,taxonomy,deploy,examples}/**/*.md',
    ],
    { cwd: ROOT },
  )
    .filter((file) => file !== 'src/platform/db/schema.ts' && file !== 'scripts/wording.ts')
    .sort()
}

/** Texts of these files that contain a rejected phrase, as `file:line: "phrase" (use …) text`. */
export function findRejectedPhrases(files: readonly string[]): string[] {
  return files.flatMap((file) =>
    textsOf(file).flatMap(({ where, kind, text }) =>
      RULES.flatMap(({ pattern, instead, kinds, except }) => {
        if (kinds !== undefined && !kinds.includes(kind)) return []
        if (except?.test(where) === true) return []
        const match = pattern.exec(text)?.[0].slice(0, 40)
        return match === undefined ? [] : [`${where}: "${match}" (use: ${instead}) ${text.slice(0, 140)}`]
      }),
    ),
  )
}

if (import.meta.main) {
  const paths = process.argv.slice(2)
  const files = wordedFiles().filter((file) => paths.length === 0 || paths.some((path) => file.startsWith(path)))
  const hits = findRejectedPhrases(files)
  for (const hit of hits) console.log(hit)
  console.log(`Texts to rewrite: ${hits.length}`)
  if (hits.length > 0) process.exitCode = 1
}
