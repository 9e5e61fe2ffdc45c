// The state of the search index, and its rebuild.

import { actorOf } from '#features/basics/audit/actor.ts'
import { loadIndexState } from '#features/reading/search/index-state.ts'
import { requestRebuild } from '#features/reading/search/request-rebuild.ts'
import type { IndexStateView } from '#features/reading/search/views.ts'
import { showConfirmation } from '#web/kit/forms/confirm.ts'
import { type FormState, formPage, type Outcome } from '#web/kit/forms/form-page.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { fileSize, timeAgo, wholeNumber } from '#web/ui/format.ts'
import { html, type Part } from '#web/ui/html.ts'
import { pathTo } from '#web/ui/page-context.ts'
import { uploadProgress } from '#web/ui/parts/choices.ts'
import { sheetPart } from '#web/ui/parts/frame.ts'
import { note } from '#web/ui/parts/lists.ts'
import { showOperator } from '../sections.ts'

const PATH = '/operator/index'
const REBUILD = '/operator/index/rebuild'

export function searchIndexPages(pages: Pages): void {
  pages.own('GET', PATH, 'operateIndex', async (request) => showIndex(request, await loadIndexState(request.deps)), {
    role: 'admin',
    api: 'getSearchIndex',
  })
  formPage<IndexStateView>(pages, {
    path: REBUILD,
    name: 'operateRebuild',
    api: 'rebuildSearch',
    options: { role: 'admin', whenReadOnly: 'answers' },
    load: ({ deps }) => loadIndexState(deps),
    show: showRebuild,
    commands: { confirm: rebuild },
  })
}

function showIndex(request: OwnRequest, index: IndexStateView) {
  const { page, language, t } = request
  const rows: readonly [string, Part][] = [
    [t('operate.index.state'), t(`operate.index.state.${index.state}`)],
    [t('operate.index.documents'), t('operate.index.of', { documents: index.documents, projects: index.projects })],
    [
      t('operate.index.changed'),
      index.changed === null ? t('operate.index.unknown') : timeAgo(language, new Date(index.changed), page.now),
    ],
    [
      t('operate.index.memory'),
      index.memory_bytes === 0 ? t('operate.index.service') : fileSize(language, index.memory_bytes),
    ],
  ]
  const isRunning = index.rebuild !== null || index.is_requested
  return showOperator(request, {
    section: PATH,
    heading: t('operate.index'),
    text: t('operate.index.text'),
    action: !isRunning && html`<a class="button" href="${pathTo(page, REBUILD)}">${t('operate.index.rebuild')}</a>`,
    ...(index.error === null
      ? {}
      : {
          notes: note(
            page,
            'bad',
            html`<p class="strong">${t('operate.index.failing')}</p><p lang="en">${index.error}</p>`,
          ),
        }),
    body: [
      isRunning && progress(request, index),
      sheetPart({
        id: 'state',
        title: t('operate.index.now'),
        content: html`<dl class="pairs wide">${rows.map(([label, value]) => html`<dt>${label}</dt><dd>${value}</dd>`)}</dl>`,
      }),
    ],
  })
}

function progress({ page, language, t }: OwnRequest, { rebuild: running }: IndexStateView): Part {
  const content =
    running === null
      ? html`<p>${t('operate.index.requested')}</p>`
      : html`${uploadProgress({ label: t('operate.index.progress'), value: Math.min(running.built, running.total), max: running.total })}
<p>${t('operate.index.built', { built: wholeNumber(language, running.built), total: wholeNumber(language, running.total) })}</p>`
  const reload = html`<p><a href="${pathTo(page, PATH)}">${t('operate.reload')}</a></p>`
  return sheetPart({ id: 'rebuild', title: t('operate.index.progress'), content: html`${content}${reload}` })
}

function showRebuild(request: OwnRequest, { projects }: IndexStateView, form: FormState) {
  const { t } = request
  const question = {
    title: t('operate.index.rebuild.title'),
    consequences: [t('operate.index.rebuild.all', { projects }), t('operate.index.rebuild.old'), t('operate.recorded')],
    button: t('operate.index.rebuild'),
    cancel: PATH,
    isDanger: false,
  }
  return showConfirmation(request, question, form)
}

async function rebuild({ deps, viewer }: OwnRequest): Promise<Outcome> {
  await requestRebuild(deps, actorOf(viewer))
  return { done: 'rebuild-requested', path: PATH }
}
