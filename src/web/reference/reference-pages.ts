// The reference of the API: a page for each resource, written from the description of the API. Its text is English, as the
// description and the errors are.
import type { FastifyReply } from 'fastify'
import { notFound } from '#lib/errors.ts'
import { VIEWER_PREFIX } from '#platform/http/server.ts'
import type { Pages } from '#web/kit/pages.ts'
import { PATHS, withQuery } from '#web/kit/paths.ts'
import type { PageRequest } from '#web/kit/request.ts'
import { attributes, html, type Markup, type Part } from '#web/ui/html.ts'
import { type PageContext, pathTo } from '#web/ui/page-context.ts'
import { type ApiDocument, describeResources, type Field, type Operated, type Resource } from './describe.ts'
import { EXAMPLE_LANGUAGES, type ExampleLanguage, LANGUAGE_NAMES, writeExample } from './examples.ts'

const TITLE = 'API reference'
const HITS_MAX = 100

export function referencePages(pages: Pages): void {
  pages.open('GET', PATHS.reference, 'siteReference', showReference, {
    shows: 'The resources of the API, with a search',
  })
  pages.open('GET', `${PATHS.reference}/:resource`, 'siteResource', showResource, {
    cached: 'until-changed',
    shows: 'The operations and objects of a resource of the API, with examples',
  })
}

const described = new WeakMap<object, { document: ApiDocument; resources: readonly Resource[] }>()

/** Returns the resources of the description. It cannot change while the server runs. */
function reference({ req }: PageRequest): { document: ApiDocument; resources: readonly Resource[] } {
  const document = req.server.swagger() as unknown as ApiDocument
  const known = described.get(document) ?? { document, resources: describeResources(document) }
  described.set(document, known)
  return known
}

async function showReference(request: PageRequest): Promise<FastifyReply> {
  const { page, query, show } = request
  const { document, resources } = reference(request)
  const text = query('q').trim()
  const found = text === '' ? undefined : findOperations(resources, text)
  const list = resources.map(
    ({ slug, name, description, operations }) =>
      html`<li><a href="${pathTo(page, resourcePath(slug))}"><strong>${titleOf(name)}</strong></a>: ${description} <span class="soft">(${operations.length})</span></li>
`,
  )
  const body = html`<article class="sheet section prose" lang="en"><h1>${TITLE}</h1>
<form method="get" action="${pathTo(page, PATHS.reference)}" role="search" class="line"><label class="vh" for="reference-q">Search the operations</label><input type="search" id="reference-q" name="q" value="${text}" maxlength="100" placeholder="version, dry_run, /v3/project…"><button>Search</button></form>
${found === undefined ? html`${prose(document.info.description.split('\n## ')[0] ?? '')}<h2>Resources</h2><ul>${list}</ul>` : hits(page, found, text)}
<p class="soft">Version ${document.info.version}. For programs: <a href="${pathTo(page, '/docs/openapi.json')}">description of v3</a> and <a href="${pathTo(page, '/docs/v2/openapi.json')}">of v2</a> (OpenAPI). <a href="${pathTo(page, VIEWER_PREFIX)}">Try requests in the viewer</a>.</p></article>`
  return show({ title: TITLE, canonical: PATHS.reference, className: 'page', body })
}

function hits(page: PageContext, found: readonly { resource: Resource; operation: Operated }[], text: string): Markup {
  if (found.length === 0)
    return html`<p role="status">No operation contains “${text}”. <a href="${pathTo(page, PATHS.reference)}">Show all resources</a></p>`
  const items = found.slice(0, HITS_MAX).map(
    ({ resource, operation }) =>
      html`<li><a href="${pathTo(page, `${resourcePath(resource.slug)}#${operation.id}`)}">${operation.summary}</a> <code>${operation.method} ${operation.path}</code></li>
`,
  )
  return html`<h2 role="status">${found.length} operations contain “${text}”</h2><ul>${items}</ul>`
}

/** Finds the operations that contain each word in their path, name, texts or fields. */
function findOperations(resources: readonly Resource[], text: string) {
  const words = text.toLowerCase().split(/\s+/)
  return resources.flatMap((resource) =>
    resource.operations.flatMap((operation) => {
      const { id, method, path, summary, description, parameters, body } = operation
      const names = [...parameters, ...(body?.fields ?? [])].map(({ name }) => name)
      const all = [id, `${method} ${path}`, summary, description, ...names].join(' ').toLowerCase()
      return words.every((word) => all.includes(word)) ? [{ resource, operation }] : []
    }),
  )
}

async function showResource(request: PageRequest): Promise<FastifyReply> {
  const { page, param, query, show, redirectPermanently } = request
  // The router matches `/docs/` too.
  if (param('resource') === '') return redirectPermanently(PATHS.reference)
  const { resources } = reference(request)
  const resource = resources.find(({ slug }) => slug === param('resource'))
  if (resource === undefined) throw notFound('page')
  const language = EXAMPLE_LANGUAGES.find((each) => each === query('code')) ?? 'curl'
  const homes = new Map(resources.flatMap(({ slug, objects }) => objects.map(({ name }) => [name, slug] as const)))
  const objectLink = (name: string): Markup => {
    const home = homes.get(name)
    return home === undefined
      ? html`${name}`
      : html`<a href="${pathTo(page, `${resourcePath(home)}#${name}`)}">${name}</a>`
  }
  const path = resourcePath(resource.slug)
  const contents = resource.operations.map(
    ({ id, summary, method, path: url }) => html`<li><a href="#${id}">${summary}</a> <code>${method} ${url}</code></li>
`,
  )
  const body = html`<article class="sheet section prose" lang="en"><p><a href="${pathTo(page, PATHS.reference)}">${TITLE}</a></p>
<h1>${titleOf(resource.name)}</h1>
<p>${resource.description}.</p>
<ul>${contents}</ul>
<p>Examples in ${languageLinks(page, path, language)}</p>
${resource.operations.map((operation) => operationPart(operation, { base: page.site.url, language, objectLink }))}
${
  resource.objects.length > 0 &&
  html`<h2 id="objects">Objects</h2>
${resource.objects.map(
  ({ name, description, fields }) => html`<h3 id="${name}">${name}</h3>
${prose(description)}${fieldTable('Fields', fields, objectLink)}`,
)}`
}</article>`
  const title = `${titleOf(resource.name)} · ${TITLE}`
  return show({ title, canonical: path, className: 'page', body })
}

function languageLinks(page: PageContext, path: string, current: ExampleLanguage): Part[] {
  return EXAMPLE_LANGUAGES.map((language, index) => {
    const href = pathTo(page, withQuery(path, language === 'curl' ? {} : { code: language }))
    const marked = attributes({ 'aria-current': language === current && 'true' })
    return html`${index > 0 && ' · '}<a href="${href}" rel="nofollow"${marked}>${LANGUAGE_NAMES[language]}</a>`
  })
}

type Shown = { base: string; language: ExampleLanguage; objectLink: (name: string) => Markup }

function operationPart(operation: Operated, { base, language, objectLink }: Shown): Markup {
  const { id, summary, description, method, path, parameters, body, answers, refusals, isDeprecated } = operation
  const refused = refusals.map(
    ({ status, codes }) =>
      html`<li><strong>${status}</strong>${codes.map((code, n) => html`${n === 0 ? ': ' : ', '}<code>${code}</code>`)}</li>`,
  )
  return html`<h2 id="${id}"><a href="#${id}">${summary}</a></h2>
<p><code>${method} ${path}</code>${isDeprecated && html` <strong>Deprecated</strong>`}</p>
${prose(description)}${fieldTable('Parameters', parameters, objectLink)}${
  body !== undefined &&
  html`<h3>Body</h3>
<p><code>${body.type}</code>${body.object !== undefined && html`: ${objectLink(body.object)}`}</p>
${fieldTable('Fields of the body', body.fields, objectLink)}`
}<h3>Answers</h3>
<ul>${answers.map(({ status, description: text, object }) => html`<li><strong>${status}</strong> ${text}${object !== undefined && html`: ${objectLink(object)}`}</li>`)}${refused}</ul>
<h3>Example</h3>
<pre tabindex="0"><code>${writeExample(language, operation, base)}</code></pre>
${answers
  .filter(({ sample }) => sample !== undefined)
  .slice(0, 1)
  .map(
    ({
      status,
      sample,
    }) => html`<details><summary>Answer ${status}</summary><pre tabindex="0"><code>${JSON.stringify(sample, null, 2)}</code></pre></details>
`,
  )}`
}

function fieldTable(
  title: string,
  fields: readonly (Field & { place?: string })[],
  objectLink: Shown['objectLink'],
): Part {
  if (fields.length === 0) return null
  const rows = fields.map(
    ({ name, type, isRequired, description, object, place }) =>
      html`<tr><td><code>${name}</code>${isRequired && html`<br><small>required</small>`}${place !== undefined && place !== 'query' && html`<br><small>${place}</small>`}</td><td>${object !== undefined && type.includes(object) ? html`${type.slice(0, type.indexOf(object))}${objectLink(object)}${type.slice(type.indexOf(object) + object.length)}` : type}</td><td>${inline(description)}</td></tr>
`,
  )
  return html`<div class="scroll" tabindex="0" role="group" aria-label="${title}"><table><caption class="vh">${title}</caption><thead><tr><th scope="col">Name</th><th scope="col">Type</th><th scope="col">Meaning</th></tr></thead><tbody>
${rows}</tbody></table></div>
`
}

const resourcePath = (slug: string): string => `${PATHS.reference}/${slug}`

const titleOf = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1)

/** Renders the paragraphs and lists of a description, whose only other mark is code between backticks. */
function prose(text: string): Part[] {
  return text
    .split('\n\n')
    .filter((part) => part.trim() !== '')
    .map((part) =>
      part.startsWith('- ')
        ? html`<ul>${part
            .slice(2)
            .split('\n- ')
            .map((item) => html`<li>${inline(item)}</li>`)}</ul>
`
        : html`<p>${inline(part)}</p>
`,
    )
}

function inline(text: string): Part[] {
  return text
    .replaceAll('**', '')
    .split('`')
    .map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))
}
