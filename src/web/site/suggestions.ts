// The suggestions below the search field, which its script requests while a visitor types.
import type { FastifyReply } from 'fastify'
import { findSuggestions } from '#features/reading/search/suggestions.ts'
import { callerOf } from '#platform/http/limits/client-address.ts'
import { PATHS, PROJECT_TYPES, projectPath, userPath, withQuery } from '#web/kit/paths.ts'
import type { PageRequest } from '#web/kit/request.ts'
import { html, type Part } from '#web/ui/html.ts'
import { icon, pathTo } from '#web/ui/page-context.ts'
import { face } from '#web/ui/parts/lists.ts'
import { tile } from './lists/rows.ts'
import { hueClass, tagIcon, tagName, typeName } from './names.ts'

/** Key of a list for each kind of tag. */
const KEYS = { category: 'c', loader: 'l', game_version: 'v' } as const
const TEXT_LENGTH_MAX = 256

export async function showSuggestions(request: PageRequest): Promise<FastifyReply> {
  const { deps, page, query, req } = request
  const text = query('q').slice(0, TEXT_LENGTH_MAX).toWellFormed()
  const found = await findSuggestions(deps, text, callerOf(req))
  const part = options(request, found)
  return request.show({ title: page.language.t('layout.suggestions'), isUnlisted: true, body: part, part })
}

type Option = { path: string; image: Part; name: string; note?: string }

function options({ page }: PageRequest, { projects, users, tags }: Awaited<ReturnType<typeof findSuggestions>>) {
  const { language } = page
  const groups = [
    {
      id: 'projects' as const,
      options: projects.map((project): Option => {
        const type = PROJECT_TYPES.find((name) => project.project_types.includes(name))
        return {
          path: projectPath(project),
          image: html`<span class="${hueClass(project.color) ?? 'plain'}">${tile(page, { iconUrl: project.icon_url }, 24)}</span>`,
          name: project.name,
          ...(type === undefined ? {} : { note: typeName(language, type) }),
        }
      }),
    },
    {
      id: 'people' as const,
      options: users.map(
        ({ username, avatar_url }): Option => ({
          path: userPath(username),
          image: face({ name: username, url: avatar_url }),
          name: username,
        }),
      ),
    },
    {
      id: 'tags' as const,
      options: tags.map(
        ({ name, kind }): Option => ({
          path: withQuery(PATHS.search, { [KEYS[kind]]: name }),
          image: icon(page, kind === 'category' ? tagIcon(name) : kind === 'loader' ? 'plug' : 'joystick'),
          name: tagName(language, name),
        }),
      ),
    },
  ].filter(({ options }) => options.length > 0)
  const count = groups.reduce((sum, { options }) => sum + options.length, 0)
  const said = language.t('layout.suggested.count', { count })
  let number = 0
  const drawn = groups.map(
    ({ id, options }) =>
      html`<div role="group" aria-labelledby="suggested-${id}"><p id="suggested-${id}" role="presentation">${language.t(`layout.suggested.${id}`)}</p>${options.map(
        ({ path, image, name, note }) =>
          html`<a role="option" id="suggestion-${++number}" tabindex="-1" aria-selected="false" href="${pathTo(page, path)}">${image}<bdi>${name}</bdi>${note !== undefined && html` <span class="n">${note}</span>`}</a>`,
      )}</div>`,
  )
  return html`<div data-count="${said}">${drawn}</div>`
}
