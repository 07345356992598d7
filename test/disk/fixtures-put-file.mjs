import { putFile } from '../../dist/src/disk/put-file.js'

// Puts so many bytes in the place of a file, where the disk has no room for all of them.
const [path, bytes] = process.argv.slice(2)
try {
  putFile(path, 'n'.repeat(Number(bytes)), 0o600)
  console.log('written')
} catch (error) {
  console.log(error.code)
}
