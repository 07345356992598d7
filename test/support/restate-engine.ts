import { randomBytes } from 'node:crypto'
import type { Journal } from '../../src/journal/journal.js'
import { type Endpoint, serveRestateEndpoint } from '../../src/journal/restate-endpoint.js'
import { createIngresses } from '../../src/journal/restate-ingresses.js'
import { createRestateJournal } from '../../src/journal/restate-journal.js'
import { createRestateCluster, type RestateCluster } from './restate-cluster.js'

export interface RestateEngine {
  readonly cluster: RestateCluster
  readonly key: Uint8Array
  readonly warnings: string[]
  connect(): Journal
  close(): Promise<void>
}

/** A cluster, and the handler of the journal's partitions, in this process. */
export async function createRestateEngine(size: 1 | 3): Promise<RestateEngine> {
  const key = randomBytes(32)
  const warnings: string[] = []
  const log = { warn: (_context: object, message: string) => void warnings.push(message) }
  const cluster = await createRestateCluster(size)
  let endpoint: Endpoint | undefined
  const engine: RestateEngine = {
    ...{ cluster, key, warnings },
    connect: () => createRestateJournal(key, createIngresses(cluster.ingresses)),
    async close() {
      await cluster.remove()
      await endpoint?.close()
    },
  }
  try {
    endpoint = await serveRestateEndpoint({
      host: '127.0.0.1',
      port: 0,
      key,
      identityKeys: [],
      log,
    })
    await cluster.register(`http://127.0.0.1:${endpoint.port}`)
  } catch (error) {
    await engine.close()
    throw error
  }
  return engine
}
