// The saved replies of the instance: list, order, and the form to create or edit a reply.

import {
  addStarterReplies,
  createReply,
  deleteReply,
  orderReplies,
  updateReply,
} from '#features/community/moderation/replies/create-reply.ts'
import { listReplies, type ReplyRow } from '#features/community/moderation/replies/queries.ts'
import { checkReply, NewReply } from '#features/community/moderation/replies/requests.ts'
import { invalidInput } from '#lib/errors.ts'
import { parseId } from '#lib/ids.ts'
import { excerptOf } from '#lib/markdown/plain-text.ts'
import { limitsOf } from '#web/kit/forms/fields.ts'
import { type FormState, formPage, type Outcome } from '#web/kit/forms/form-page.ts'
import { checkValues } from '#web/kit/forms/read-form.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { html, type Markup } from '#web/ui/html.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { form, hiddenField, textArea, textField } from '#web/ui/parts/fields.ts'
import { sheetHead, sheetPart } from '#web/ui/parts/frame.ts'
import { emptyState } from '#web/ui/parts/lists.ts'
import { listTable, nameCell, type Row } from '#web/ui/parts/tables.ts'
import { showSection } from '../frame.ts'

/** Name of the field: the footer of every page has a field `language`. */
const LANGUAGE = 'reply_language'

type Data = { replies: ReplyRow[]; edited: ReplyRow | undefined }

export function textsPage(pages: Pages): void {
  formPage<Data>(pages, {
    path: PATHS.moderationTexts,
    name: 'moderateTexts',
    shows: 'Saved replies',
    api: 'listSavedReplies createSavedReply orderSavedReplies updateSavedReply deleteSavedReply addStarterReplies',
    load: loadTexts,
    show: showTexts,
    commands: { save, preview: showTexts, up: move, down: move, delete: remove, starter },
    labels: { topic: 'The topic', language: 'The language', title: 'The title', body: 'The text' },
    options: { role: 'moderator' },
  })
}

/** The reply that the form edits: named by the URL or by the form. Without it, the form creates a reply. */
async function loadTexts({ deps, query, field, req }: OwnRequest): Promise<Data> {
  const replies = await listReplies(deps.db)
  const id = req.method === 'POST' ? field('id') : query('edit')
  return { replies, edited: replies.find((reply) => reply.id === id) }
}

async function save({ deps, field }: OwnRequest, { edited }: Data, state: FormState): Promise<Outcome> {
  const values = {
    topic: state.text('topic'),
    language: state.text(LANGUAGE),
    title: state.text('title'),
    body: state.text('body'),
  }
  const fields = checkReply(checkValues(NewReply, values))
  const id = field('id')
  if (id === '') await createReply(deps, fields)
  else await updateReply(deps, edited?.id ?? parseId(id, 'id'), fields)
  return { done: 'text-saved' }
}

/** Moves a reply by one place. The command fails if another moderator has changed the list. */
async function move({ deps, field }: OwnRequest, { replies }: Data): Promise<Outcome> {
  const ids = replies.map(({ id }) => id)
  const from = ids.indexOf(field('id'))
  const to = from + (field('do') === 'up' ? -1 : 1)
  const [moved, other] = [ids[from], ids[to]]
  if (moved === undefined || other === undefined) throw invalidInput('The reply cannot be moved further')
  ids[to] = moved
  ids[from] = other
  await orderReplies(deps, ids)
  return { done: 'texts-ordered' }
}

async function remove({ deps, field }: OwnRequest): Promise<Outcome> {
  await deleteReply(deps.db, parseId(field('id'), 'id'))
  return { done: 'text-deleted' }
}

async function starter({ deps }: OwnRequest): Promise<Outcome> {
  return { done: 'texts-added', with: { count: String(await addStarterReplies(deps)) } }
}

async function showTexts(request: OwnRequest, { replies, edited }: Data, submitted: FormState) {
  const errors = submitted.errors.map((error) => (error.field === 'language' ? { ...error, field: LANGUAGE } : error))
  const state = { ...submitted, errors }
  const { page, texts, field, t } = request
  const body = state.text('body', edited?.body)
  const preview =
    field('do') === 'preview' && body !== ''
      ? html`<div class="note" role="note" aria-label="${t('reports.texts.preview')}"><div>${await texts.preview(body, page)}</div></div>`
      : undefined
  return showSection(request, {
    section: PATHS.moderationTexts,
    title: t('reports.texts.title'),
    form: state,
    notice: { count: Number(request.query('count')) || 0 },
    body: [
      sheetHead({ title: t('reports.texts.title'), text: t('reports.texts.placeholders') }),
      replies.length === 0 ? noReplies(page) : replyTable(page, replies),
      sheetPart({
        id: 'edit',
        title: edited === undefined ? t('reports.texts.new') : t('reports.texts.edit', { title: edited.title }),
        content: [preview, replyForm(page, edited, state)],
      }),
    ],
  })
}

/** Renders that there are no replies, and the button that adds the first ones. */
function noReplies(page: PageContext): Markup {
  const { t } = page.language
  const button = html`<button class="main" name="do" value="starter">${icon(page, 'plus')}${t('reports.texts.starter')}</button>`
  return emptyState(page, {
    icon: 'note',
    title: t('reports.texts.empty'),
    text: t('reports.texts.empty.text'),
    action: form(page, { action: pathTo(page, PATHS.moderationTexts), content: button }),
  })
}

function replyTable(page: PageContext, replies: readonly ReplyRow[]): Markup {
  const { t } = page.language
  return listTable(page, {
    caption: t('reports.texts.title'),
    columns: [
      { label: t('reports.texts.name') },
      { label: t('reports.texts.topic'), room: 'far' },
      { label: t('reports.texts.language'), room: 'far' },
      { label: t('reports.actions'), isAction: true },
    ],
    rows: replies.map((reply, index) => replyRow(page, reply, { index, last: replies.length - 1 })),
  })
}

function replyRow(page: PageContext, reply: ReplyRow, { index, last }: { index: number; last: number }): Row {
  const { t } = page.language
  const button = (command: 'up' | 'down' | 'delete', isShown: boolean) =>
    isShown &&
    html`<button class="tight" name="do" value="${command}" aria-label="${t(`reports.texts.${command}`)}: ${reply.title}">${icon(page, command === 'delete' ? 'trash' : command === 'up' ? 'arrow-up' : 'arrow-down')}</button>`
  const actions = form(page, {
    action: pathTo(page, PATHS.moderationTexts),
    className: 'line',
    content: html`${hiddenField('id', reply.id)}${button('up', index > 0)}${button('down', index < last)}<a class="button tight" href="?edit=${reply.id}#edit" aria-label="${t('reports.texts.change')}: ${reply.title}">${icon(page, 'pencil')}</a>${button('delete', true)}`,
  })
  return {
    cells: [
      nameCell({
        name: reply.title,
        details: html`<span dir="auto">${excerptOf(reply.body, 120)}</span>`,
        near: html`<bdi>${reply.topic}</bdi> · ${reply.language}`,
      }),
      html`<bdi>${reply.topic}</bdi>`,
      reply.language,
      actions,
    ],
  }
}

function replyForm(page: PageContext, edited: ReplyRow | undefined, state: FormState): Markup {
  const { t } = page.language
  const { errors } = state
  const content = html`${hiddenField('id', state.text('id', edited?.id))}
${textField(page, { name: 'title', label: t('reports.texts.name'), hint: t('reports.texts.name.hint'), value: state.text('title', edited?.title), ...limitsOf(NewReply.properties.title), errors })}
<div class="pair">${textField(page, { name: 'topic', label: t('reports.texts.topic'), hint: t('reports.texts.topic.hint'), value: state.text('topic', edited?.topic), ...limitsOf(NewReply.properties.topic), errors })}
${textField(page, { name: LANGUAGE, label: t('reports.texts.language'), hint: t('reports.texts.language.hint'), value: state.text(LANGUAGE, edited?.language ?? page.language.tag.slice(0, 2)), ...limitsOf(NewReply.properties.language), isCode: true, errors })}</div>
${textArea(page, { name: 'body', label: t('reports.texts.body'), value: state.text('body', edited?.body), ...limitsOf(NewReply.properties.body), rows: 8, errors })}
<div class="line"><button class="main" name="do" value="save">${t('reports.texts.save')}</button><button name="do" value="preview" formnovalidate>${t('reports.texts.preview')}</button>${edited !== undefined && html`<a class="button plain" href="${pathTo(page, PATHS.moderationTexts)}">${t('work.cancel')}</a>`}</div>`
  return form(page, { action: pathTo(page, PATHS.moderationTexts), className: 'stack', content })
}
