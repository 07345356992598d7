import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startCluster } from '../../scripts/dev/cluster/start-cluster.js'
import { devHome } from '../../scripts/dev/home/layout.js'
import { programsIn, refuseOld, userNamed } from '../../scripts/dev/postgres/programs.js'
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
      await expect(
        startCluster({ ...of, size: 3, cells: 1, journal: 'postgres', ask: 'owner' }),
      ).rejects.toThrow('lies too deep for unix sockets')
      expect(existsSync(root)).toBe(false)
    } finally {
      await shutdown.close(() => {})
      await new Promise((resolve) => taken.close(resolve))
    }
  })

  test('hears signals while a program of Postgres is at work', async () => {
    const programs = programsIn(dirname(process.execPath), null)
    let heard = false
    process.once('SIGUSR2', () => {
      heard = true
    })
    const kill = `process.kill(${process.pid}, 'SIGUSR2'); setTimeout(() => {}, 2_000)`
    await programs.run(basename(process.execPath), ['-e', kill], tmpdir())
    expect(heard).toBe(true)
  })

  test('says what it misses of Postgres: a user that is not root, or a newer version', () => {
    expect(() => userNamed('no-such-user-here')).toThrow('there is no user `no-such-user-here`')
    expect(() => refuseOld('postgres (PostgreSQL) 14.9 (Debian 14.9-1)\n')).toThrow(
      'needs Postgres from version 15 on, and here is `postgres (PostgreSQL) 14.9',
    )
    expect(() => refuseOld('postgres (PostgreSQL) 17.2')).not.toThrow()
    expect(() => refuseOld('postgres (PostgreSQL) 18beta1')).not.toThrow()
  })
})
