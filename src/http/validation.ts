// Schema validation, the same for tests and production: values of paths, queries and headers are converted from text,
// JSON bodies never are. The first fault becomes the error the specification names for its place.
import type { FastifySchemaCompiler } from 'fastify'
import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { Value } from 'typebox/value'
import { bodyFault, queryFault } from '#lib/schema-faults.ts'

/** Fastify's validator compiler over TypeBox; `httpPart` says whether text may be converted. */
export const compileValidator: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  const validator = Compile(schema)
  if (httpPart === 'body') {
    return (data: unknown) => (validator.Check(data) ? { value: data } : { error: bodyFault(data, validator.Errors(data)) })
  }
  return (data: unknown) => {
    const value = Value.Convert(schema, data)
    return validator.Check(value) ? { value } : { error: queryFault(validator.Errors(value)) }
  }
}
