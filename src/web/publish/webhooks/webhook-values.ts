// The values of the form of a webhook.
import { type EVENT_KINDS, kindsFor } from '#features/basics/events/event-kinds.ts'
import { ALL_EVENTS, type OwnerKind, VERSION_TYPES } from '#features/exchange/webhooks/requests.ts'
import type { FormState } from '#web/kit/forms/form-page.ts'

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
export function eventsFor(kind: OwnerKind): readonly (typeof EVENT_KINDS)[number][] {
  return kind === 'instance' ? kindsFor('all', 'instance') : kindsFor('all', 'members')
}
