// Writes the reference of the API as pages of the documentation site, from the committed description.
import {
  type ApiDocument,
  type DescribedObject,
  describeResources,
  type Field,
  type Operated,
} from '#web/reference/describe.ts'
import { EXAMPLE_LANGUAGES, type ExampleLanguage, LANGUAGE_NAMES, writeExample } from '#web/reference/examples.ts'

/** Address of the instance in the examples. */
const INSTANCE = 'https://mods.example.org'
const BLOCKS: Record<ExampleLanguage, string> = {
  curl: 'sh',
  javascript: 'js',
  python: 'python',
  go: 'go',
  java: 'java',
}

export type ReferencePage = { slug: string; title: string; markdown: string }

/** Returns a page for each resource, and an index first. */
export function referenceMarkdown(document: ApiDocument): ReferencePage[] {
  const resources = describeResources(document)
  const homes = new Map(resources.flatMap(({ slug, objects }) => objects.map(({ name }) => [name, slug] as const)))
  const pages = resources.map(({ slug, name, description, operations, objects }) => {
    const link = (object: string): string => {
      const home = homes.get(object)
      return home === undefined ? object : `[${object}](./${home}.md#${anchorOf(object)})`
    }
    const title = name.charAt(0).toUpperCase() + name.slice(1)
    const parts = [
      `# ${title}`,
      `${description}.`,
      ...operations.map((operation) => operationText(operation, link)),
      ...(objects.length === 0 ? [] : ['## Objects', ...objects.map((object) => objectText(object, link))]),
    ]
    return { slug, title, markdown: `${parts.join('\n\n')}\n` }
  })
  const list = resources.map(
    ({ slug, description }, index) => `- [${pages[index]?.title}](./${slug}.md): ${description}`,
  )
  const about = 'A page for each resource of version 3, written from the description of the API.'
  return [{ slug: 'index', title: 'Reference', markdown: `# Reference\n\n${about}\n\n${list.join('\n')}\n` }, ...pages]
}

/** Returns the anchor that the site gives to the heading of an object. */
const anchorOf = (name: string): string => name.toLowerCase()

function operationText(operation: Operated, link: (object: string) => string): string {
  const { summary, description, method, path, parameters, body, answers, refusals } = operation
  const answerLines = answers.map(
    ({ status, description: text, object }) =>
      `- **${status}** ${text}${object === undefined ? '' : `: ${link(object)}`}`,
  )
  const errorLines = refusals.map(
    ({ status, codes }) => `- **${status}** ${codes.map((code) => `\`${code}\``).join(', ')}`,
  )
  const examples = EXAMPLE_LANGUAGES.map(
    (language) =>
      `\`\`\`${BLOCKS[language]} [${LANGUAGE_NAMES[language]}]\n${writeExample(language, operation, INSTANCE)}\n\`\`\``,
  )
  return [
    `## ${summary}`,
    `\`${method} ${path}\``,
    description,
    table(parameters, link),
    ...(body === undefined
      ? []
      : [
          `Body: \`${body.type}\`${body.object === undefined ? '' : `, ${link(body.object)}`}`,
          table(body.fields, link),
        ]),
    [...answerLines, ...errorLines].join('\n'),
    `::: code-group\n${examples.join('\n')}\n:::`,
  ]
    .filter((part) => part !== '')
    .join('\n\n')
}

function objectText({ name, description, fields }: DescribedObject, link: (object: string) => string): string {
  return [`### ${name}`, description, table(fields, link)].filter((part) => part !== '').join('\n\n')
}

function table(fields: readonly Field[], link: (object: string) => string): string {
  if (fields.length === 0) return ''
  const rows = fields.map(({ name, type, isRequired, description, object }) => {
    const shown = object === undefined ? type : type.replace(object, () => link(object))
    return `| \`${name}\`${isRequired ? ' (required)' : ''} | ${cell(shown)} | ${cell(description)} |`
  })
  return ['| Name | Type | Meaning |', '|---|---|---|', ...rows].join('\n')
}

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ')
