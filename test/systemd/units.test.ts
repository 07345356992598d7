import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { VARIABLES } from '../../src/config/variables.js'
import { unreservedDescriptors } from '../../src/http/open-files.js'

const DIRECTORY = 'scripts/systemd'
const UNITS = {
  service: 'countersign-service.service',
  identity: 'countersign-identity-provider.service',
  quorum: 'countersign-quorum-signer.service',
} as const
const ALL = Object.values(UNITS)
const LISTS = 'countersign-lists.service'
/** Of a cluster whose journal is in Restate. */
const HANDLER = 'countersign-journal-handler.service'
const RESTATE = 'countersign-restate.service'

/** Directives of a unit's sections; those that repeat are listed. */
function directives(unit: string): Map<string, string[]> {
  const found = new Map<string, string[]>()
  for (const line of readFileSync(join(DIRECTORY, unit), 'utf8').split('\n')) {
    const match = /^([A-Za-z]+)=(.*)$/.exec(line)
    if (match === null) continue
    const [, name = '', value = ''] = match
    found.set(name, [...(found.get(name) ?? []), value])
  }
  return found
}

const textOf = (unit: string, name: string) => directives(unit).get(name)?.join(' ')
const wordsOf = (unit: string, name: string) => (textOf(unit, name) ?? '').split(' ')

/** As systemd reads a size: powers of 1,024. */
function bytesOf(size: string | undefined): number {
  const [, count, unit = ''] = /^(\d+)([MG])$/.exec(size ?? '') ?? []
  if (count === undefined) throw new Error(`${size} is no size`)
  return Number(count) * 1024 ** (unit === 'G' ? 3 : 2)
}

describe('the systemd units', () => {
  test.each([...ALL, LISTS, HANDLER, RESTATE])(
    '%s leaves no memory on disk and gains no privilege',
    (unit) => {
      const wanted = {
        LimitCORE: '0',
        MemorySwapMax: '0',
        NoNewPrivileges: 'yes',
        CapabilityBoundingSet: '',
        ProtectSystem: 'strict',
        ProtectHome: 'yes',
        ProtectProc: 'invisible',
        PrivateTmp: 'yes',
        PrivateMounts: 'yes',
        UMask: '0077',
      }
      for (const [name, value] of Object.entries(wanted)) {
        expect([name, textOf(unit, name)]).toEqual([name, value])
      }
      if (unit !== RESTATE) expect(wordsOf(unit, 'Environment')).toContain('COUNTERSIGN_MODE=live')
      // Secrets are never in an environment, and a live unit takes no keys from files by itself.
      expect(textOf(unit, 'Environment') ?? '').not.toMatch(/PIN|SECRET|PASSWORD|ALLOW_FILE_KEYS/)
    },
  )

  test.each([...ALL, HANDLER, RESTATE])(
    '%s is never given up, whatever an outage takes, and is told to end first',
    (unit) => {
      // What a node of Restate leads waits for the handler beside it.
      const RestartSec = unit === HANDLER ? '1' : '2'
      const wanted = { StartLimitIntervalSec: '0', Restart: 'always', RestartSec }
      for (const [name, value] of Object.entries(wanted)) {
        expect([name, textOf(unit, name)]).toEqual([name, value])
      }
      // Longer than a process takes to put away what it has begun.
      expect(Number(textOf(unit, 'TimeoutStopSec'))).toBeGreaterThanOrEqual(25)
    },
  )

  test.each([...ALL, LISTS, HANDLER, RESTATE])(
    '%s has a bound on memory, descriptors and threads',
    (unit) => {
      expect(bytesOf(textOf(unit, 'MemoryHigh'))).toBeLessThan(bytesOf(textOf(unit, 'MemoryMax')))
      for (const name of ['LimitNOFILE', 'TasksMax']) {
        expect([name, Number(textOf(unit, name))]).toEqual([name, expect.any(Number)])
        expect(Number(textOf(unit, name))).toBeGreaterThanOrEqual(64)
      }
    },
  )

  test('the service may open what its own reserve of descriptors is made for', () => {
    const descriptors = Number(textOf(UNITS.service, 'LimitNOFILE'))
    expect(unreservedDescriptors(descriptors)).toBeGreaterThan(60_000)
  })

  test('lists are fetched by the service’s user, often enough that none grows stale', () => {
    expect(textOf(LISTS, 'User')).toBe(textOf(UNITS.service, 'User'))
    expect(textOf(LISTS, 'ExecStart')).toMatch(/\/scripts\/countersign\.mjs lists update$/)
    expect(textOf('countersign-lists.timer', 'OnCalendar')).toBe('*-*-* 00/6:00:00')
    expect(textOf('countersign-lists.timer', 'Persistent')).toBe('true')
  })

  test('run as three users', () => {
    const users = ALL.map((unit) => textOf(unit, 'User'))
    expect(new Set(users).size).toBe(3)
    const declared = readFileSync(join(DIRECTORY, 'countersign.sysusers.conf'), 'utf8')
    for (const user of users) expect(declared).toMatch(new RegExp(`^u ${user} `, 'm'))
  })

  test('the quorum signer has no network but its socket', () => {
    expect(textOf(UNITS.quorum, 'PrivateNetwork')).toBe('yes')
    expect(textOf(UNITS.quorum, 'RestrictAddressFamilies')).toBe('AF_UNIX')
    expect(textOf(UNITS.quorum, 'IPAddressDeny')).toBe('any')
    expect(textOf(UNITS.quorum, 'ReadWritePaths')).toBe('/var/lib/countersign/run')
  })

  test.each([HANDLER, RESTATE])('%s is nobody of a home and sees nothing of one', (unit) => {
    expect(textOf(unit, 'InaccessiblePaths')).toBe('-/var/lib/countersign')
    expect(directives(unit).has('SupplementaryGroups')).toBe(false)
    expect([textOf(unit, 'IPAddressDeny'), textOf(unit, 'IPAddressAllow')]).toEqual([
      'any',
      'localhost',
    ])
    const user = textOf(unit, 'User') ?? ''
    const declared = readFileSync(join(DIRECTORY, 'countersign-cluster.sysusers.conf'), 'utf8')
    expect(declared).toMatch(new RegExp(`^u ${user} `, 'm'))
    expect(declared).not.toMatch(/^m /m)
    for (const domain of ALL) expect(textOf(domain, 'User')).not.toBe(user)
  })

  test('what drop-ins set is read by the process of their unit, and no secret', () => {
    const drops = [
      ['countersign-service.cluster.conf', 'service'],
      ['countersign-identity-provider.link.conf', 'identity provider'],
      ['countersign-identity-provider.journal.conf', 'identity provider'],
    ] as const
    for (const [file, domain] of drops) {
      const settings = wordsOf(file, 'Environment').map((setting) => setting.split('='))
      expect(settings.length).toBeGreaterThan(0)
      for (const [name = '', value = ''] of settings) {
        const variable = VARIABLES.find((known) => known.name === name)
        expect([name, variable?.readers]).toEqual([name, expect.arrayContaining([domain])])
        expect(value).toMatch(/^(\/etc\/[\w./-]+\.json|standby)$/)
      }
    }
    const [, handlers] = wordsOf(HANDLER, 'Environment').map((each) => each.split('='))
    expect(handlers).toEqual(['COUNTERSIGN_JOURNAL_FILE', '/etc/countersign-journal-handler.json'])
  })

  test('each socket’s group is its owner’s and the service’s, and nobody else’s', () => {
    for (const [owner, stranger] of [
      [UNITS.identity, UNITS.quorum],
      [UNITS.quorum, UNITS.identity],
    ] as const) {
      const group = wordsOf(owner, 'Environment')
        .find((setting) => setting.startsWith('COUNTERSIGN_SOCKET_GROUP='))
        ?.split('=')[1]
      expect(group).toBeDefined()
      expect(wordsOf(owner, 'SupplementaryGroups')).toContain(group)
      expect(wordsOf(UNITS.service, 'SupplementaryGroups')).toContain(group)
      expect(wordsOf(stranger, 'SupplementaryGroups')).not.toContain(group)
    }
  })

  test('no domain sees another one’s directory', () => {
    const own = {
      [UNITS.service]: 'service',
      [UNITS.identity]: 'identity-provider',
      [UNITS.quorum]: 'quorum-signer',
    }
    const modes = readFileSync(join(DIRECTORY, 'countersign.tmpfiles.conf'), 'utf8')
    for (const [unit, directory] of Object.entries(own)) {
      const hidden = textOf(unit, 'InaccessiblePaths')
      for (const other of Object.values(own).filter((name) => name !== directory)) {
        // The quorum signer’s key is in its own directory, of mode 0700, which both others lack.
        if (other !== 'quorum-signer' || unit !== UNITS.quorum) {
          expect(hidden).toContain(`/var/lib/countersign/${other}`)
        }
      }
      expect(modes).toMatch(new RegExp(`^d /var/lib/countersign/${directory} +0700 `, 'm'))
    }
  })
})
