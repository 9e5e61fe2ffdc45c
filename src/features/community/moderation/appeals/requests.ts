// Requests to appeal a decision, and to reject an appeal.
import Type, { type Static } from 'typebox'
import { NamedObject } from '#lib/schema/schema-parts.ts'
import { checkText } from '#lib/text/text-rules.ts'

const BODY = { min: 1, max: 8_192, visible: true }
const MESSAGE = { min: 1, max: 65_536, visible: true }

export const AppealInput = NamedObject('AppealCreate', {
  body: Type.String({
    minLength: BODY.min,
    maxLength: BODY.max,
    description: 'Why the decision is wrong, in Markdown. It becomes a message in the thread of the project',
  }),
})

/** @throws ApiError `validation_error` naming the field. */
export const parseAppeal = ({ body }: Static<typeof AppealInput>): string => checkText(body, 'body', BODY)

export const AppealRejection = NamedObject('AppealRejection', {
  message: Type.String({
    minLength: MESSAGE.min,
    maxLength: MESSAGE.max,
    description: 'Why the decision stays, in Markdown. It becomes a message in the thread of the project',
  }),
  seen: Type.Optional(
    Type.String({
      maxLength: 64,
      description: 'The state that the moderator has seen, as for a decision. 409 if the project has changed since',
    }),
  ),
})
export type AppealRejection = Static<typeof AppealRejection>

/** @throws ApiError `validation_error` naming the field. */
export function checkRejection(rejection: AppealRejection): AppealRejection {
  checkText(rejection.message, 'message', MESSAGE)
  return rejection
}
