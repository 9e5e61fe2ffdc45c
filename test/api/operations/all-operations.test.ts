// The tests that call all operations, in one file so that they share an application and the answers of the matrix.
import './authorization-matrix.ts'
import './conditional-requests.ts'
import './declared-is-saved.ts'
import './described-patterns.ts'
import './limited-tokens.ts'
import './privileged-routes.ts'
import './revisions.ts'
import './undeclared-keys.ts'
