import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../support/ports.js'
import { createRestateCluster, type RestateCluster } from '../support/restate-cluster.js'
import { type Handler, startHandler } from '../support/restate-handler.js'

/** Three nodes with what answers for the journal in them, and the settings of a service that uses it. */
export interface JournalCluster {
  readonly cluster: RestateCluster
  readonly env: Readonly<Record<string, string>>
  remove(): Promise<void>
}

/** @param directory for the journal's file, with its key */
export async function startJournalCluster(directory: string): Promise<JournalCluster> {
  const cluster = await createRestateCluster(3)
  const file = join(directory, 'journal.json')
  const settings = {
    ingresses: cluster.ingresses,
    key: randomBytes(32).toString('hex'),
    handler: { port: await freePort() },
  }
  writeFileSync(file, JSON.stringify({ restate: settings }), { mode: 0o600 })
  let handler: Handler
  try {
    handler = await startHandler(file)
  } catch (error) {
    await cluster.remove()
    throw error
  }
  const remove = async () => {
    await cluster.remove()
    await handler.kill()
  }
  try {
    await cluster.register(handler.url)
  } catch (error) {
    await remove()
    throw error
  }
  const env = { COUNTERSIGN_JOURNAL_FILE: file, COUNTERSIGN_WORKERS: '2' }
  return { cluster, env, remove }
}
