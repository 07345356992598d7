import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { openBesideService } from '../../store/environment.js'
import { type JournalPosition, journalPositionOf } from '../../store/journal-position.js'

/** @returns null when the home has no store, or one that never had a journal */
export async function journalPositionIn(home: string): Promise<JournalPosition | null> {
  const directory = join(home, 'service', 'store')
  if (!existsSync(join(directory, 'data.mdb'))) return null
  const environment = openBesideService(directory, undefined, 'opened')
  try {
    return journalPositionOf(environment)
  } finally {
    await environment.root.close()
  }
}
