import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { documents, page, pathOf, steps } from './documented.js'

/**
 * Names the test that runs each command of the README, the guides, the operators' pages, `/docs` and
 * `live init`: on the real thing where a test has one running, or on small handlers of the same wire.
 */
const RUN_BY: Readonly<Record<string, string>> = {
  'approvals approve': 'test/console/authorizers.test.ts',
  'approvals decline': 'test/console/authorizers.test.ts',
  'approvals list': 'test/cli/cli.test.ts',
  'approvals show': 'test/console/authorizers.test.ts',
  audit: 'test/cli/cli.test.ts',
  'authorizer create': 'test/live/live.test.ts',
  'authorizer list': 'test/console/authorizers.test.ts',
  'authorizer recover': 'test/console/authorizers.test.ts',
  'authorizer remove': 'test/console/authorizers.test.ts',
  'backup create': 'test/live/live.test.ts',
  'backup reconcile': 'test/custody/backup.test.ts',
  'backup restore': 'test/live/live.test.ts',
  'backup verify': 'test/live/live.test.ts',
  'breakers set': 'test/cli/cli.test.ts',
  'cluster add-node': 'test/journal-postgres/added-node.test.ts',
  'cluster drain': 'test/journal-postgres/drained-node.test.ts',
  'cluster handler': 'test/support/restate-handler.ts',
  'cluster import': 'test/journal-postgres/imported-store.test.ts',
  'cluster leave': 'test/journal-postgres/lost-store.test.ts',
  'cluster move': 'test/journal-postgres/moved-journal.test.ts',
  'cluster snapshot': 'test/support/trimmed-service.ts',
  'cluster status': 'test/journal-postgres/lost-store.test.ts',
  'cluster take': 'test/journal-postgres/lost-store.test.ts',
  'contracts configure': 'test/defi/contracts-command.test.ts',
  'contracts deploy': 'test/defi/contracts-command.test.ts',
  'contracts pause': 'test/defi/contracts-command.test.ts',
  'contracts rotate-cosigner': 'test/defi/contracts-command.test.ts',
  'custody approve-authorizer': 'test/custody/authorizer-recovery.test.ts',
  'custody check': 'test/custody/rotations.test.ts',
  'custody draft-registry': 'test/cli/sign-registry.test.ts',
  'custody fence': 'test/custody/freezes.test.ts',
  'custody freeze': 'test/custody/freezes.test.ts',
  'custody install-registry': 'test/live/live.test.ts',
  'custody make-root': 'test/live/live.test.ts',
  'custody provision': 'test/live/live.test.ts',
  'custody refresh-shares': 'test/custody/refresh.test.ts',
  'custody restore': 'test/custody/bad-input.test.ts',
  'custody rotate-cosigner': 'test/custody/rotations.test.ts',
  'custody rotate-wrapping-keys': 'test/custody/rotations.test.ts',
  'custody sign-registry': 'test/live/live.test.ts',
  'custody unfreeze': 'test/restore/drill.test.ts',
  doctor: 'test/live/live.test.ts',
  freeze: 'test/cli/cli.test.ts',
  'gas-wallets': 'test/defi/contracts-command.test.ts',
  'gas-wallets top-up': 'test/defi/contracts-command.test.ts',
  'keys child': 'test/cli/cli.test.ts',
  'keys create': 'test/live/live.test.ts',
  'keys revoke': 'test/cli/cli.test.ts',
  'lists import': 'test/live/live.test.ts',
  'lists replay': 'test/e2e/write-path/screening.ts',
  'lists status': 'test/cli/lists.test.ts',
  'lists update': 'test/cli/lists.test.ts',
  'live init': 'test/live/live.test.ts',
  login: 'test/live/live.test.ts',
  restart: 'test/devnet/start.test.ts',
  'policy breakers': 'test/console/freezes.test.ts',
  'policy diff': 'test/policy/policy-diff.test.ts',
  'policy explain': 'test/cli/cli.test.ts',
  'policy template': 'test/cli/cli.test.ts',
  replay: 'test/e2e/replay.test.ts',
  retention: 'test/cli/retention.test.ts',
  send: 'test/live/live.test.ts',
  start: 'test/package/package.test.ts',
  swap: 'test/cli/cli.test.ts',
  'tx show': 'test/cli/cli.test.ts',
  'users create': 'test/live/live.test.ts',
  'users invite-again': 'test/cli/cli.test.ts',
  'users list': 'test/cli/cli.test.ts',
  'verify-audit': 'test/custody/evidence.test.ts',
  'wallets create': 'test/live/live.test.ts',
  'webhooks create': 'test/cli/cli.test.ts',
}

/** The documents that a stranger follows. Commands in folders' own pages are only compared with the help. */
const FOLLOWED = [
  'README.md',
  'GUIDE.md',
  'INSTALL.md',
  'OPERATIONS.md',
  'CLUSTER.md',
  'RUNBOOKS.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
]
const followed = [...documents.filter(({ where }) => FOLLOWED.includes(where)), ...page, ...steps]

/** A word of a command line, as a test writes it. */
const isWrittenIn = (text: string, word: string) => new RegExp(`['"\`]${word}['"\`]`).test(text)

describe('every command that is named is run', () => {
  test('and nothing else is in the table', async () => {
    const paths = await Promise.all(followed.map(({ words }) => pathOf(words)))
    const named = new Set(paths.map(({ path }) => path.join(' ')))
    expect([...named].toSorted()).toEqual(Object.keys(RUN_BY).toSorted())
  })

  test.each(Object.entries(RUN_BY))('countersign %s, by %s', (command, file) => {
    const text = readFileSync(file, 'utf8')
    const missing = command.split(' ').filter((word) => !isWrittenIn(text, word))
    expect(missing).toEqual([])
  })
})
