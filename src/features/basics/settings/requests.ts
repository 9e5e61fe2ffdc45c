// What may be set, within which bounds.

import type { Updateable } from 'kysely'
import Type, { type Static } from 'typebox'
import { validationError } from '#lib/errors.ts'
import { type PatchColumns, toColumns } from '#lib/schema/patch.ts'
import { Maybe } from '#lib/schema/schema-parts.ts'
import { checkStorable, isBlank } from '#lib/text/text-rules.ts'
import type { InstanceSettings } from '#platform/db/schema.ts'

/** Null takes a setting back to what the environment says. */
export const SettingsPatch = Type.Object(
  {
    name: Maybe(Type.String({ minLength: 1, maxLength: 64, description: 'What people call the instance: one line' })),
    accent_hue: Maybe(
      Type.Integer({ minimum: 0, maximum: 359, description: 'Colour of links and buttons, in degrees of the circle' }),
    ),
    about: Maybe(Type.String({ maxLength: 20_000, description: 'Markdown: what the instance is for' })),
    rules: Maybe(Type.String({ maxLength: 50_000, description: 'Markdown: what may be published' })),
    announcement: Maybe(Type.String({ maxLength: 1000, description: 'A sentence for everybody' })),
    registration: Maybe(
      Type.Enum(['open', 'invitation', 'closed'], {
        description: 'Whether people may make accounts themselves, or need an invitation',
      }),
    ),
    read_only: Maybe(Type.Boolean({ description: 'Whether everything that changes something is refused with 503' })),
    read_only_message: Maybe(Type.String({ maxLength: 500, description: 'What callers are told meanwhile: one line' })),
  },
  { title: 'SettingsPatch' },
)
export type SettingsPatch = Static<typeof SettingsPatch>

export type SettingName = keyof typeof SettingsPatch.properties

export const SETTING_NAMES = Object.keys(SettingsPatch.properties) as SettingName[]

export const MarkQuery = Type.Object({
  ext: Type.String({ maxLength: 16, description: 'png, webp or svg' }),
})

/** With the one that is a picture and so is set by a route of its own. */
export const SET_NAMES = [...SETTING_NAMES, 'mark'] as const
export type SetName = (typeof SET_NAMES)[number]

const columns: PatchColumns<SettingsPatch, Updateable<InstanceSettings>> = {
  name: (name) => ({ name: lineOf(name, 'name') }),
  accent_hue: (accent_hue) => ({ accent_hue }),
  about: (about) => ({ about: textOf(about, 'about') }),
  rules: (rules) => ({ rules: textOf(rules, 'rules') }),
  announcement: (announcement) => ({ announcement: lineOf(announcement, 'announcement') }),
  registration: (registration) => ({ registration }),
  read_only: (read_only) => ({ read_only }),
  read_only_message: (message) => ({ read_only_message: lineOf(message, 'read_only_message') }),
}

/** @throws ApiError `validation_error` naming the setting. */
export function toSettingsColumns(patch: SettingsPatch): Updateable<InstanceSettings> {
  return toColumns(patch, columns)
}

/** Line ends, and signs that turn the direction of what follows, would reach into the page around the text. */
const NOT_IN_LINES = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u

function lineOf(text: string | null, field: SettingName): string | null {
  if (text !== null && NOT_IN_LINES.test(text)) {
    throw validationError(field, 'must be one line without control characters')
  }
  const checked = textOf(text, field)
  if (checked !== null && isBlank(checked)) throw validationError(field, 'must not be blank; null takes it back')
  return checked?.trim() ?? null
}

function textOf(text: string | null, field: SettingName): string | null {
  if (text !== null) checkStorable(text, field)
  return text
}
