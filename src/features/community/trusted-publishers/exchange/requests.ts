// The request of the exchange.

import Type from 'typebox'
import { NamedObject } from '#lib/schema/schema-parts.ts'

export const BuildToken = NamedObject('BuildToken', {
  token: Type.String({ minLength: 1, maxLength: 64 * 1024, description: 'The OpenID Connect token of the build' }),
  project: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      description:
        'ID or slug of the project. Required until a build that names its project has used the trusted publisher, and if the build is a trusted publisher of several projects',
    }),
  ),
})
