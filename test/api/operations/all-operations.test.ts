// The tests that call all operations, in one file so that they share an application and the answers of the matrix.
import './authorization-matrix.ts'

// The matrix runs every statement. CI needs no more on another version of PostgreSQL.
if (process.env['ONLY_MATRIX'] === undefined) {
  await import('./conditional-requests.ts')
  await import('./declared-is-saved.ts')
  await import('./described-patterns.ts')
  await import('./examples.ts')
  await import('./limited-tokens.ts')
  await import('./privileged-routes.ts')
  await import('./revisions.ts')
  await import('./undeclared-keys.ts')
}
