// Requests about the record of a user.

import Type, { type Static } from 'typebox'
import { NamedObject } from '#lib/schema/schema-parts.ts'
import { checkText } from '#lib/text/text-rules.ts'

const NOTE = { max: 16_384 }
const MESSAGE = { min: 1, max: 4_096, visible: true }

export const NoteInput = NamedObject('UserNoteUpdate', {
  body: Type.String({ maxLength: NOTE.max, description: 'Markdown; empty to remove the note' }),
  revision: Type.Integer({
    minimum: 0,
    maximum: 2 ** 31 - 1,
    description: 'Revision of the note that the moderator has read',
  }),
})
export type NoteInput = Static<typeof NoteInput>

/** @throws ApiError `validation_error` naming the field. */
export function checkNote(note: NoteInput): NoteInput {
  checkText(note.body, 'body', NOTE)
  return note
}

export const OperatorMessage = NamedObject('OperatorMessage', {
  message: Type.String({
    minLength: MESSAGE.min,
    maxLength: MESSAGE.max,
    description: 'Decision that the operators should make, and the reasons for it',
  }),
})

/** @throws ApiError `validation_error` naming the field. */
export function parseOperatorMessage({ message }: Static<typeof OperatorMessage>): string {
  return checkText(message, 'message', MESSAGE)
}
