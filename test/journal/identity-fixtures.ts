import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RootDatabase } from 'lmdb'
import { onTestFinished } from 'vitest'
import { userSideLayout } from '../../src/custody/domain-keys/layout.js'
import { fileKeysOf } from '../../src/custody/process-environment.js'
import { provisionDev } from '../../src/custody-tools/provisioning/provision.js'
import { writeJournalPermit } from '../../src/disk/journal-permit.js'
import { openRecorded } from '../../src/disk/recorded-writes.js'
import {
  openUserSideJournal,
  type UserSideJournalOptions,
} from '../../src/identity-provider/journal/open-journal.js'
import { disown, openJournaledStores } from '../../src/identity-provider/journal/stores.js'
import type { UserSideJournal } from '../../src/identity-provider/journal/writer.js'
import { openLoginStore } from '../../src/identity-provider/login/login-store.js'
import type { Journal } from '../../src/journal/journal.js'
import type { MemoryEngine } from '../../src/journal/memory-journal.js'

/** Homes of an identity provider with a journal, without the processes. */

export const STORES = ['login', 'shares', 'ledger', 'evidence'] as const
export type StoreName = (typeof STORES)[number]

/** As `npm start` makes it, with nothing in it yet. */
export async function newHome(): Promise<string> {
  const home = mkdtempSync(join(tmpdir(), 'cs-identity-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  await provisionDev(home)
  await openLoginStore(join(home, 'identity-provider')).root.close()
  return home
}

/** Another machine's, as `cluster add-node` makes it. */
export async function nodeOf(home: string): Promise<string> {
  const to = copyOf(home)
  await disown(to)
  return to
}

/** The home itself, as of a while ago. */
export function copyOf(home: string): string {
  const to = mkdtempSync(join(tmpdir(), 'cs-identity-copy-'))
  onTestFinished(() => rmSync(to, { recursive: true, force: true }))
  cpSync(home, to, { recursive: true })
  return to
}

function pathIn(home: string, store: StoreName): string {
  return store === 'login'
    ? join(home, 'identity-provider', 'login.mdb')
    : userSideLayout(home)[store]
}

/** A store of that home, written as its owner writes it. */
export function storeIn(home: string, store: StoreName): RootDatabase {
  const options = { path: pathIn(home, store), overlappingSync: false, maxDbs: 32 }
  return openRecorded(store === 'login' ? { ...options, noSubdir: true } : options)
}

/** What nobody but these tests writes there. */
export async function rowsIn(home: string): Promise<Record<string, unknown>> {
  const rows: Record<string, unknown> = {}
  for (const store of STORES) {
    const root = storeIn(home, store)
    for (const { key, value } of root.openDB<unknown, string>({ name: '90-test' }).getRange()) {
      rows[`${store} ${key}`] = value
    }
    await root.close()
  }
  return rows
}

/** The stores of a home, as whoever writes there has them, be it that no owner runs. */
export function openLate(home: string) {
  const roots = STORES.map((store) => storeIn(home, store))
  return {
    async write(store: StoreName, rows: Readonly<Record<string, unknown>>): Promise<void> {
      const root = roots[STORES.indexOf(store)]
      const database = root?.openDB<unknown, string>({ name: '90-test' })
      await root?.batch(() => {
        for (const [key, value] of Object.entries(rows)) {
          if (value === null) void database?.remove(key)
          else void database?.put(key, value)
        }
      })
    },
    async kill(): Promise<void> {
      for (const root of roots) await root.close()
    },
  }
}

export interface OpenedJournal extends UserSideJournal {
  readonly failures: readonly unknown[]
  write(store: StoreName, rows: Readonly<Record<string, unknown>>): Promise<void>
  /** As a process is: what is under way is lost, or lands. */
  kill(): Promise<void>
}

export const NO_LOG: UserSideJournalOptions['log'] = {
  error: () => undefined,
  warn: () => undefined,
  info: () => undefined,
}

export async function openOn(
  engine: MemoryEngine,
  home: string,
  options: Partial<UserSideJournalOptions> = {},
): Promise<OpenedJournal> {
  const failures: unknown[] = []
  const inner = engine.connect()
  let isDead = false
  const alive = <Arguments extends unknown[], T>(ask: (...asked: Arguments) => Promise<T>) => {
    return async (...asked: Arguments): Promise<T> => {
      if (isDead) throw new Error('killed')
      return ask(...asked)
    }
  }
  const journal: Journal = {
    ...{
      acquire: alive(inner.acquire),
      readHead: alive(inner.readHead),
      heartbeat: alive(inner.heartbeat),
    },
    ...{ append: alive(inner.append), read: alive(inner.read), trim: alive(inner.trim) },
    close: inner.close,
  }
  const opened = await openUserSideJournal({
    ...{ home, mode: 'dev', fileKeys: fileKeysOf('dev', {}), role: 'owner', node: 'test' },
    ...{ connect: async () => journal, fatal: (error) => failures.push(error), log: NO_LOG },
    ...options,
  })
  const stores = openLate(home)
  let isOpen = true
  const close = async () => {
    if (!isOpen) return
    isOpen = false
    await stores.kill()
    await opened.close().catch(() => undefined)
  }
  onTestFinished(close)
  return {
    ...opened,
    ...{ failures, write: stores.write, close },
    async kill() {
      isDead = true
      await close()
    },
  }
}

/** Takes over from whoever owns it, as an operator says. */
export async function acquireFrom(engine: MemoryEngine, home: string): Promise<OpenedJournal> {
  writeJournalPermit(home, 'user', (await engine.connect().readHead(0)).epoch)
  return openOn(engine, home)
}

/** Where all stores of a home are with its journal. */
export async function positionOfAll(home: string): Promise<number | undefined> {
  const stores = openJournaledStores(home)
  try {
    return stores.position()?.seq
  } finally {
    await stores.close()
  }
}
