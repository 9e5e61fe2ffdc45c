// Static files whose names contain a hash of their content, so browsers can cache them permanently and load a changed
// file immediately.
import { createHash } from 'node:crypto'

/** Returns the path of a file, below the path of the public URL: `/assets/site.3f9a0c1b2d4e.css` for `site.css`. */
export function staticPath(file: string, bytes: Buffer): string {
  const [stem = '', extension = ''] = file.split('.')
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 12)
  return `/assets/${stem}.${hash}.${extension}`
}
