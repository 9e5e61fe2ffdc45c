// The second step of a takedown: operators delete content that was withheld before.

import type { FastifyReply } from 'fastify'
import {
  DELETABLE_KINDS,
  type Deletion,
  deleteContent,
  findDeletion,
  isTakenDown,
} from '#features/community/moderation/takedown/delete-content.ts'
import type { Concerned } from '#features/community/moderation/takedown/queries.ts'
import { notFound, validationError } from '#lib/errors.ts'
import { isIdForm } from '#lib/ids.ts'
import { showConfirmation } from '#web/kit/forms/confirm.ts'
import { type FormState, formPage, type Outcome } from '#web/kit/forms/form-page.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS, withQuery } from '#web/kit/paths.ts'
import { html, type Part } from '#web/ui/html.ts'
import { pathTo } from '#web/ui/page-context.ts'
import { errorSummary, hiddenField } from '#web/ui/parts/fields.ts'
import { statusOf } from '#web/ui/parts/status.ts'
import { takedownPath } from '../frame.ts'

type Data = Deletion & { concerned: Concerned; typed: string }

const PATH = `${PATHS.moderationTakedown}/delete`
export const contentDeletionPath = (kind: string, id: string): string => withQuery(PATH, { kind, id })

export function contentDeletionPage(pages: Pages): void {
  formPage<Data>(pages, {
    path: PATH,
    name: 'moderateDeletion',
    shows: 'Deletion of content that was taken down',
    load: loadDeletion,
    show: showDeletion,
    commands: { confirm },
    labels: { name: 'The text' },
    options: { role: 'admin' },
  })
}

async function loadDeletion({ deps, query, field, req }: OwnRequest): Promise<Data> {
  const read = req.method === 'POST' ? field : query
  const kind = DELETABLE_KINDS.find((each) => each === read('kind'))
  const id = read('id')
  const isValid = kind === 'file' ? /^[0-9a-f]{128}$/.test(id) : isIdForm(id)
  if (kind === undefined || !isValid) throw notFound('page')
  const concerned = await findDeletion(deps, { kind, id })
  return { kind, id, concerned, typed: typedOf({ kind, id }, concerned) }
}

/** Returns the text that the operator types. */
function typedOf({ kind, id }: Deletion, { projects, versions, collection }: Concerned): string {
  const [project] = projects
  const [version] = versions
  if (kind === 'file') return id.slice(0, 12)
  if (kind === 'version') return version?.version_number ?? id
  return kind === 'project' ? (project?.slug ?? id) : (collection?.name ?? id)
}

async function confirm({ deps, viewer }: OwnRequest, data: Data, state: FormState): Promise<Outcome> {
  if (state.text('name').trim() !== data.typed.trim()) throw validationError('name', `must be ${data.typed}`)
  await deleteContent(deps, viewer, data)
  return { done: 'content-deleted', path: PATHS.moderationTakedown }
}

function showDeletion(request: OwnRequest, data: Data, state: FormState): FastifyReply {
  const { page, t } = request
  const { kind, id, concerned, typed } = data
  const { projects, versions } = concerned
  const takedown = takedownPath(kind, id)
  const href = pathTo(page, takedown)
  const title = t('reports.deletion.title')
  const of = (project: Concerned['projects'][number]): Part =>
    html`<bdi>${project.name}</bdi> ${statusOf(page, 'project', project.status)}`
  const consequences: Part[] = [
    ...(kind === 'collection' ? [html`<bdi>${concerned.collection?.name}</bdi>`] : projects.map(of)),
    ...(kind === 'project' ? [t('reports.deletion.versions', { count: projects[0]?.versions ?? 0 })] : []),
    ...(versions.length > 0 ? [t('reports.deletion.versions', { count: versions.length })] : []),
    ...(kind === 'file' ? [t('reports.deletion.file')] : []),
    t('reports.deletion.final'),
  ]
  if (!isTakenDown(concerned)) {
    const body = html`<div class="slip sheet"><h1>${title}</h1>${errorSummary(page, state.errors)}<p>${t('reports.deletion.first')}</p><div class="line"><a class="button main" href="${href}">${t('reports.takedown.title')}</a></div></div>`
    return request.show({ title, body, refusal: state.refusal })
  }
  const question = {
    title,
    consequences,
    instead: { text: t('reports.deletion.instead'), href, label: t('reports.deletion.keep') },
    button: t('reports.deletion.button'),
    cancel: takedown,
    typed,
    fields: [hiddenField('kind', kind), hiddenField('id', id)],
  }
  return showConfirmation(request, question, state)
}
