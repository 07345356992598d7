import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readJournalFile } from '../../src/config/journal.js'
import { describeClusterCommand } from '../support/cluster-command.js'
import { signalAll } from '../support/postgres-server.js'

describeClusterCommand('postgres', {
  tests({ home, dev, confirmedAt, signsIn }) {
    test.each(['postgres', 'identity-postgres'])(
      'answers while either standby of %s stands still',
      async (servers) => {
        for (const standby of ['standby', 'standby-2']) {
          const pid = pidOfServer(join(home(), servers, standby))
          signalAll(pid, 'SIGSTOP')
          try {
            await confirmedAt(dev().base_url)
            expect(await signsIn()).toBe(true)
          } finally {
            signalAll(pid, 'SIGCONT')
          }
        }
      },
    )

    test('names all three servers of its journal', () => {
      const settings = readJournalFile(dev().journal_file)
      expect('postgres' in settings && settings.postgres).toHaveLength(3)
    })
  },
})

function pidOfServer(directory: string): number {
  const [pid] = readFileSync(join(directory, 'data', 'postmaster.pid'), 'utf8').split('\n')
  return Number(pid)
}
