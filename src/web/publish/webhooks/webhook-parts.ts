// The list of webhooks, one webhook with its forms, and the values of these forms.

import { type EVENT_KINDS, kindsFor } from '#features/basics/events/event-kinds.ts'
import type { WebhookRow } from '#features/exchange/webhooks/queries.ts'
import {
  ALL_EVENTS,
  FORMATS,
  NewWebhook,
  type OwnerKind,
  VERSION_TYPES,
  type WebhookFormat,
} from '#features/exchange/webhooks/requests.ts'
import { toWebhookView } from '#features/exchange/webhooks/views.ts'
import { limitsOf } from '#web/kit/forms/fields.ts'
import type { FormState } from '#web/kit/forms/form-page.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { withQuery } from '#web/kit/paths.ts'
import { exactTime, timeAgo } from '#web/ui/format.ts'
import { attributes, html, type Markup, type Part } from '#web/ui/html.ts'
import { type PageContext, pathTo } from '#web/ui/page-context.ts'
import { formPart } from '#web/ui/parts/actions.ts'
import { chips } from '#web/ui/parts/choices.ts'
import { form, selectField, textField } from '#web/ui/parts/fields.ts'
import { sheetPart } from '#web/ui/parts/frame.ts'
import { emptyState, note } from '#web/ui/parts/lists.ts'
import { status } from '#web/ui/parts/status.ts'

type Of = { path: string; state: FormState; kind: OwnerKind }

/** Shows the webhooks, and the form of a new one. */
export function showList({ page }: OwnRequest, { hooks, ...of }: Of & { hooks: readonly WebhookRow[] }): Part {
  const { t } = page.language
  const items = hooks.map((hook) => listItem(page, hook, of.path))
  const content =
    items.length === 0
      ? emptyState(page, { icon: 'plug', title: t('webhooks.none') })
      : html`<ul class="items">${items}</ul>`
  const fields = html`${fieldsOf(page, undefined, of)}
<div class="line"><button class="main" name="do" value="add">${t('webhooks.add')}</button></div>`
  return [
    sheetPart({ id: 'webhooks', content }),
    formPart(page, {
      id: 'new-webhook',
      title: t('webhooks.new'),
      text: t('webhooks.new.text'),
      path: of.path,
      content: fields,
    }),
  ]
}

function listItem(page: PageContext, hook: WebhookRow, path: string): Markup {
  const { t, rich } = page.language
  const { url } = toWebhookView(hook)
  const events = hook.events.includes(ALL_EVENTS)
    ? t('webhooks.events.all')
    : t('webhooks.events.count', { count: hook.events.length })
  const last =
    hook.last_success === null
      ? t('webhooks.never')
      : rich('webhooks.last-success', { at: timeAgo(page.language, hook.last_success, page.now) })
  return html`<li class="row"><div class="grow">
<h3><a href="${pathTo(page, withQuery(path, { webhook: hook.id }))}"><bdi>${hook.host}</bdi></a> ${stateOf(page, hook)}</h3>
<p class="hint"><code class="wrap">${url}</code></p>
<p class="hint">${formatName(page, hook.format as WebhookFormat)}, ${events}. ${last}</p>
</div></li>`
}

/** Renders whether a webhook works. */
function stateOf(page: PageContext, { active, disabled_reason, failing_since }: WebhookRow): Markup {
  const { t } = page.language
  if (!active) {
    const label = t(`webhooks.off.${disabled_reason ?? 'owner'}`)
    return status(page, { icon: 'x', kind: disabled_reason === 'owner' ? undefined : 'bad', label })
  }
  if (failing_since !== null) return status(page, { icon: 'warning', kind: 'wait', label: t('webhooks.failing') })
  return status(page, { icon: 'check', kind: 'good', label: t('webhooks.on') })
}

const formatName = ({ language: { t } }: PageContext, format: WebhookFormat): string => t(`webhooks.format.${format}`)

/** Shows one webhook: its state, its form, its secret, its deliveries and its end. */
export function showWebhook(
  { page }: OwnRequest,
  { hook, deliveries, ...of }: Of & { hook: WebhookRow; deliveries: Part },
): Part {
  const { t } = page.language
  const path = withQuery(of.path, { webhook: hook.id })
  const button = (command: string, text: string, kind: 'main' | 'danger' | undefined = undefined) =>
    html`<button${attributes({ class: kind, name: 'do', value: command })}>${text}</button>`
  const switching = hook.active
    ? button('switch.off', t('webhooks.switch-off'))
    : button('switch.on', t('webhooks.switch-on'))
  const buttons = html`<div class="line">${hook.active && button('ping', t('webhooks.ping'))}${hook.disabled_reason !== 'secret_lost' && switching}</div>`
  const rotation = html`${textField(page, { name: 'overlap_hours', label: t('webhooks.overlap'), hint: t('webhooks.overlap.hint'), value: of.state.text('overlap_hours', '24'), maxLength: 3, inputMode: 'numeric', autocomplete: 'off', errors: of.state.errors })}
<div class="line">${button('rotate', t('webhooks.rotate'))}</div>`
  const save = html`${fieldsOf(page, hook, of)}<div class="line">${button('save', t('webhooks.save'), 'main')}</div>`
  const part = (id: string, title: string, content: Part, text?: string) =>
    formPart(page, { id, title, text, path, content })
  return [
    sheetPart({
      id: 'webhook',
      content: html`<p><a href="${pathTo(page, of.path)}">${t('webhooks.back')}</a></p>
<p>${stateOf(page, hook)}</p>${problemNote(page, hook)}
<p class="hint">${timesOf(page, hook)}</p>
${form(page, { action: pathTo(page, path), content: buttons })}`,
    }),
    part('edit', t('webhooks.edit'), save),
    hook.format !== 'discord' && part('secret-part', t('webhooks.secret'), rotation, t('webhooks.secret.text')),
    deliveries,
    part(
      'remove',
      t('webhooks.remove'),
      html`<div class="line">${button('remove', t('webhooks.remove'), 'danger')}</div>`,
      t('webhooks.remove.text'),
    ),
  ]
}

function problemNote(page: PageContext, { active, disabled_reason }: WebhookRow): Part {
  if (active || disabled_reason === null || disabled_reason === 'owner') return false
  return note(page, 'warn', html`<p>${page.language.t(`webhooks.off.${disabled_reason}.text`)}</p>`)
}

function timesOf(page: PageContext, { created, last_success, last_failure }: WebhookRow): Part {
  const { rich, t } = page.language
  const time = (at: Date) => exactTime(page.language, at)
  return [
    rich('webhooks.created', { at: time(created) }),
    ' ',
    last_success === null ? t('webhooks.never') : rich('webhooks.last-success', { at: time(last_success) }),
    last_failure !== null && [' ', rich('webhooks.last-failure', { at: time(last_failure) })],
  ]
}

/** The fields of a webhook. `hook` is undefined for a new one. */
function fieldsOf(page: PageContext, hook: WebhookRow | undefined, { state, kind }: Of): Part {
  const { t } = page.language
  const { errors } = state
  const text = (name: 'loaders' | 'game_versions', current: readonly string[] = []) =>
    textField(page, {
      name,
      label: t(`webhooks.${name}`),
      hint: t(`webhooks.${name}.hint`),
      value: state.text(name, current.join(', ')),
      maxLength: 4096,
      autocomplete: 'off',
      isName: true,
      isOptional: true,
      errors,
    })
  const url = hook === undefined ? '' : toWebhookView(hook).url
  const format = state.text('format', hook?.format ?? 'standard')
  const formats = FORMATS.map((value) => ({ value, label: formatName(page, value), isChosen: value === format }))
  const events = new Set(state.list('events', hook?.events ?? ['version.published']))
  const types = new Set(state.list('version_types', hook?.version_types ?? []))
  const choices = [ALL_EVENTS, ...eventsFor(kind)].map((value) => ({
    value,
    label:
      value === ALL_EVENTS
        ? t('webhooks.events.all')
        : t(`webhooks.event.${value}` as 'webhooks.event.project.created'),
    isChosen: events.has(value),
  }))
  const channels = VERSION_TYPES.map((value) => ({
    value,
    label: t(`webhooks.channel.${value}`),
    isChosen: types.has(value),
  }))
  return html`${textField(page, { name: 'url', label: t('webhooks.url'), hint: t('webhooks.url.hint'), value: state.text('url', url), ...limitsOf(NewWebhook.properties.url), autocomplete: 'off', isCode: true, errors })}
${selectField(page, { name: 'format', label: t('webhooks.format'), hint: t('webhooks.format.hint'), choices: formats, errors })}
${chips(page, { legend: t('webhooks.events'), name: 'events', options: choices })}
${text('loaders', hook?.loaders)}
${text('game_versions', hook?.game_versions)}
${chips(page, { legend: t('webhooks.channels'), name: 'version_types', hint: t('webhooks.channels.hint'), options: channels })}`
}

/** Returns the fields of a webhook as the API takes them. */
export function valuesOf(state: FormState) {
  const events = [...state.list('events')]
  return {
    url: state.text('url').trim(),
    format: state.text('format'),
    events: events.includes(ALL_EVENTS) ? [ALL_EVENTS] : events,
    loaders: namesIn(state.text('loaders')),
    game_versions: namesIn(state.text('game_versions')),
    version_types: VERSION_TYPES.filter((type) => state.list('version_types').includes(type)),
  }
}

/** Names that are separated by commas or spaces. */
function namesIn(text: string): string[] {
  return text.split(/[\s,]+/).filter((name) => name !== '')
}

/** Returns the events that an owner can choose. */
function eventsFor(kind: OwnerKind): readonly (typeof EVENT_KINDS)[number][] {
  return kind === 'instance' ? kindsFor('all', 'instance') : kindsFor('all', 'members')
}
