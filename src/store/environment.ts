import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { RootDatabase } from 'lmdb'
import { openLmdb } from '../disk/lmdb-file.js'
import type { SubWalletId, TxId, UserId } from '../domain/ids.js'
import { type DamagedRecord, openSpace, type Space } from './checked-space.js'
import { packedRecord } from './encodings/sealing.js'
import {
  isOpened,
  KEY_SPACES,
  type KeySpace,
  NAMES_INDEXED_SINCE,
  SCHEMA_VERSION,
} from './key-spaces.js'
import { buildNameIndex } from './name-index.js'
import { putOf, type Row } from './rows.js'
import { attachVersions, createVersionsBuffer, type Versions } from './versions.js'
import { WrittenBodies } from './written-bodies.js'

export interface Environment {
  readonly root: RootDatabase
  readonly spaces: Readonly<Record<KeySpace, Space>>
  /**
   * Of transactions and of what sub-wallets and their keys have spent by their ids; of a user's webhook
   * endpoints, and of which sub-wallets there are, by the user's.
   */
  readonly recordVersions: Versions<TxId | SubWalletId | UserId>
  /** Of this thread. */
  readonly writtenBodies: WrittenBodies
  /** Says that a damaged record was passed over, once each. */
  readonly noteDamage: (damage: DamagedRecord) => void
}

/** Of a store that is half restored (`isHalfRestored`). */
export type Half = 'refused' | 'opened'

/** Damaged records that are reported once and not at every pass; beyond it they are again. */
const NOTED_MAX = 1_000

/** LMDB reserves address space, not disk; the file grows as it fills. 1 TiB. */
const MAP_SIZE_BYTES = 2 ** 40

const KEY_SPACES_MAX = 64

const DATA_FILE = 'data.mdb'

/**
 * Opens the service's LMDB environment. Threads of one process share it: each opens it anew and
 * lmdb hands out the same map.
 *
 * `overlappingSync` is off: with it on, lmdb-js resolves a write at commit and not at fsync, and
 * a broadcast could go out on bytes that a power cut takes back.
 * @param recordVersions shared by the threads of a process that open the same directory
 * @param damaged hears of damaged records that a pass over many leaves out; others are thrown
 * @param half only for whoever restores a store: one that is half restored is opened as it is
 * @throws Error when a build of another schema wrote the data, or its file is cut off or no store
 */
export function openEnvironment(
  directory: string,
  recordVersions = createVersionsBuffer(),
  damaged: (damage: DamagedRecord) => void = () => undefined,
  half: Half = 'refused',
): Environment {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const environment = opened(directory, recordVersions, damaged)
  claimSchema(environment, directory, half)
  return environment
}

/**
 * Opens the store of a service for a command beside it. That service may be of an earlier build and
 * go on writing, so the store stays of its schema: what this build would make once, as its index of
 * names, would lack what is written from then on.
 * @throws Error as `openEnvironment`, and where there is no store: none is made for a misspelt home
 */
export function openBesideService(
  directory: string,
  damaged: (damage: DamagedRecord) => void = () => undefined,
  half: Half = 'refused',
): Environment {
  if (!existsSync(join(directory, DATA_FILE))) throw new Error(`there is no store in ${directory}`)
  const environment = opened(directory, createVersionsBuffer(), damaged)
  const version = schemaOf(environment)
  if (version === RESTORING && half === 'opened') return environment
  if (version !== undefined && !isOpened(version)) throw ofAnotherSchema(directory, version)
  return environment
}

/**
 * Looks whether this build opens a store, which a service may be at work on. Changes nothing.
 * @param half as of `openEnvironment`
 * @throws Error as `openEnvironment`
 */
export async function requireOpenedSchema(
  directory: string,
  half: Half = 'refused',
): Promise<void> {
  const file = join(directory, DATA_FILE)
  if (!existsSync(file)) return
  const root = openLmdb({ path: directory, maxDbs: KEY_SPACES_MAX, readOnly: true })
  try {
    if (![...root.getKeys()].includes(KEY_SPACES.meta)) return
    const meta = openSpace(root, { file, space: 'meta', noteDamage: () => undefined })
    const version = schemaOf({ spaces: { meta } })
    if (version === RESTORING && half === 'opened') return
    if (version !== undefined && !isOpened(version)) throw ofAnotherSchema(directory, version)
  } finally {
    await root.close()
  }
}

function opened(
  directory: string,
  recordVersions: SharedArrayBuffer,
  damaged: (damage: DamagedRecord) => void,
): Environment {
  const file = join(directory, DATA_FILE)
  const root = openLmdb({
    path: directory,
    maxDbs: KEY_SPACES_MAX,
    mapSize: MAP_SIZE_BYTES,
    overlappingSync: false,
  })
  const noteDamage = onceEach(damaged)
  const spaces = {} as Record<KeySpace, Space>
  for (const space of Object.keys(KEY_SPACES) as KeySpace[]) {
    spaces[space] = openSpace(root, { file, space, noteDamage })
  }
  return {
    root,
    spaces,
    recordVersions: attachVersions(recordVersions),
    writtenBodies: new WrittenBodies(),
    noteDamage,
  }
}

/** In `meta`. */
export const SCHEMA_KEY = 'schema_version'

/**
 * In place of its schema, while a store is being restored from a snapshot: no build, of whatever
 * schema, takes what is there so far for a store.
 */
const RESTORING = 'restoring'

/** Of a store whose restoring begins, to be written in one transaction with what is removed for it. */
export const restoringRow = (): Row => putOf('meta', SCHEMA_KEY, packedRecord(RESTORING))

/** Of one that is restored, to be written last. */
export const restoredRow = (): Row => putOf('meta', SCHEMA_KEY, packedRecord(SCHEMA_VERSION))

/** Whether it is the half of a store, which was being restored when its process ended. */
export function isHalfRestored({ spaces }: Pick<Environment, 'spaces'>): boolean {
  return schemaOf({ spaces }) === RESTORING
}

/** The first schema whose records are sealed. */
const SEALED_SINCE = 12

/** A store is of one schema from its first record to its last, and this build reads no other form. */
function claimSchema(environment: Environment, directory: string, half: Half): void {
  const version = schemaOf(environment)
  if (version === SCHEMA_VERSION) return
  // Its position in the journal is there, so it is not taken for a store without one: `isHalfRestored`.
  if (version === RESTORING && half === 'opened') return
  if (version !== undefined && !isOpened(version)) throw ofAnotherSchema(directory, version)
  // A journal that goes with it may have older entries still, which is what `applyRows` is for.
  if (Number(version) < NAMES_INDEXED_SINCE) buildNameIndex(environment)
  environment.spaces.meta.putSync(SCHEMA_KEY, packedRecord(SCHEMA_VERSION))
}

/** @returns undefined of a new store */
function schemaOf({ spaces: { meta } }: { readonly spaces: Pick<Environment['spaces'], 'meta'> }) {
  return meta.isSealed(SCHEMA_KEY) ? meta.get(SCHEMA_KEY) : `${SEALED_SINCE - 1} or earlier`
}

function ofAnotherSchema(directory: string, version: unknown): Error {
  if (version === RESTORING) {
    return new Error(
      `${directory} is half of a store, which is being restored from a snapshot of its journal: the service's next start, with its journal, does it over again`,
    )
  }
  return new Error(
    `${directory} holds schema version ${String(version)}, and this build reads ${SCHEMA_VERSION} alone: start the build that wrote it, or begin anew with another home (a dev home: npm run dev:reset)`,
  )
}

function onceEach(damaged: (damage: DamagedRecord) => void) {
  const noted = new Set<string>()
  return (damage: DamagedRecord) => {
    if (noted.has(damage.message)) return
    if (noted.size >= NOTED_MAX) noted.clear()
    noted.add(damage.message)
    damaged(damage)
  }
}
