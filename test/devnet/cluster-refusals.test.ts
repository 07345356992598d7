import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startCluster } from '../../scripts/dev/cluster/start-cluster.js'
import { devHome } from '../../scripts/dev/home/layout.js'
import { shutdownStack } from '../../scripts/dev/supervision/shutdown-stack.js'

/** Of a home whose own sockets fit, and those of its further nodes do not. */
const HOME_CHARS = 72

describe('npm run cluster', () => {
  let directory: string
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'cs-deep-'))
  })
  afterAll(() => rmSync(directory, { recursive: true, force: true }))

  test('refuses a home too deep for any of its nodes before it begins anything', async () => {
    const root = join(directory, 'd'.repeat(HOME_CHARS - directory.length - 1))
    // Should it begin, it comes no further than to a port that is taken.
    const taken = createServer()
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
    const { port } = taken.address() as { port: number }
    const shutdown = shutdownStack()
    try {
      const home = devHome({ COUNTERSIGN_HOME: root })
      const of = { command: 'npm run cluster', home, port, shutdown, say: () => {} }
      await expect(startCluster({ ...of, size: 3, journal: 'postgres' })).rejects.toThrow(
        'lies too deep for unix sockets',
      )
      expect(existsSync(root)).toBe(false)
    } finally {
      await shutdown.close(() => {})
      await new Promise((resolve) => taken.close(resolve))
    }
  })
})
