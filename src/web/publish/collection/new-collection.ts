// The form for a new collection, which the editor completes.

import type { FastifyReply } from 'fastify'
import { mustVerifyEmail } from '#features/basics/access/email-policy.ts'
import { createCollection } from '#features/community/collections/create-collection.ts'
import { type FormState, formPage, type Outcome } from '#web/kit/forms/form-page.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { collectionPath, PATHS } from '#web/kit/paths.ts'
import { showWork } from '#web/kit/work-page.ts'
import { html } from '#web/ui/html.ts'
import { pathTo } from '#web/ui/page-context.ts'
import { formPart } from '#web/ui/parts/actions.ts'
import { sheetHead } from '#web/ui/parts/frame.ts'
import { limitNotes } from '../limits.ts'
import { COLLECTION_FIELDS } from './managed-collection.ts'

export function newCollectionPage(pages: Pages): void {
  formPage<null>(pages, {
    path: PATHS.newCollection,
    name: 'publishNewCollection',
    api: 'getCollectionLimit',
    load: async () => null,
    show: showNewCollection,
    commands: { create },
    labels: COLLECTION_FIELDS.said,
  })
}

async function create({ deps, viewer }: OwnRequest, _data: null, state: FormState): Promise<Outcome> {
  const id = await createCollection(deps, viewer, COLLECTION_FIELDS.read(state))
  return { done: 'collection-created', path: `${collectionPath(id)}/edit` }
}

async function showNewCollection(request: OwnRequest, _data: null, state: FormState): Promise<FastifyReply> {
  const { page, deps, viewer, t } = request
  const content = html`${COLLECTION_FIELDS.controls(page, state, {}, { name: { hasFocus: !state.isSubmitted } })}
<div class="line"><a class="button" href="${pathTo(page, PATHS.dashboardCollections)}">${t('work.cancel')}</a><button class="main" name="do" value="create">${t('collections.create')}</button></div>`
  return showWork(request, {
    title: t('collections.new'),
    subject: {
      name: t('collections.new'),
      crumbs: [{ path: PATHS.dashboardCollections, label: t('collections.title') }],
    },
    form: state,
    notes: await limitNotes(request, {
      kind: 'collections',
      unverified: mustVerifyEmail(deps, viewer) && t('collections.new.unverified'),
      full: (max) => t('collections.new.full', { max }),
    }),
    body: html`${sheetHead({ title: t('collections.new.heading'), text: t('collections.new.text') })}
${formPart(page, { id: 'collection', path: PATHS.newCollection, content })}`,
  })
}
