import type { BegunInstance } from './begin-instance.js'
import type { DevFile } from './dev-file.js'
import { writeJsonAtomically } from './home/json-file.js'
import { PRIVATE_FILE_MODE } from './home/layout.js'
import { keepWriting } from './supervision/kept-writing.js'

/**
 * Writes `dev.json`, which tells other programs that everything serves.
 * @returns a function that writes it again, now or as soon as possible
 * @throws Error when it cannot be written the first time
 */
export async function keepDevFile(
  { home, shutdown, say }: BegunInstance,
  current: () => DevFile,
): Promise<() => void> {
  const write = () => writeJsonAtomically(home.devFile, current(), PRIVATE_FILE_MODE)
  write()
  const kept = keepWriting('dev.json', write, say)
  await shutdown.defer(() => kept.close())
  return kept.refresh
}
