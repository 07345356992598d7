import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openLmdb } from '../../src/disk/lmdb-file.js'
import { packed, packedRecord, placeOf, seal } from '../../src/store/encodings/sealing.js'
import {
  openBesideService,
  openEnvironment,
  requireOpenedSchema,
} from '../../src/store/environment.js'
import { KEY_SPACES, OPENED_SINCE, SCHEMA_VERSION } from '../../src/store/key-spaces.js'
import { createReader } from '../../src/store/reader.js'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'cs-schema-'))
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

const KEY = 'schema_version'

/** As a build of that version left it: from 12 on sealed. */
async function leave(version: number): Promise<void> {
  const root = openLmdb({ path: directory, maxDbs: 64 })
  const meta = root.openDB<Buffer, string>({ name: KEY_SPACES.meta, encoding: 'binary' })
  const value =
    version < 12
      ? Buffer.from(packed(version))
      : seal(packedRecord(version), placeOf(Number.parseInt(KEY_SPACES.meta, 10), KEY))
  await meta.put(KEY, value)
  await root.close()
}

describe('a store', () => {
  test.each([1, 8, 11, 12, OPENED_SINCE - 1, SCHEMA_VERSION + 1])(
    'of schema %i is not opened, and its owner is told what to do',
    async (version) => {
      await leave(version)
      const said = version < 12 ? '11 or earlier' : String(version)
      expect(() => openEnvironment(directory)).toThrow(
        `${directory} has schema version ${said}, but this build reads only ${SCHEMA_VERSION}. Start the build that wrote it, or use another home`,
      )
    },
  )

  test('of an older schema that has nothing to be read otherwise is opened, and is of this one then', async () => {
    await leave(OPENED_SINCE)
    const environment = openEnvironment(directory)
    expect(environment.spaces.meta.get(KEY)).toBe(SCHEMA_VERSION)
    expect(createReader(environment).spentDays.of('sw_1' as never, 'key_1' as never)).toEqual([])
    await environment.root.close()
  })

  test('of an older schema stays what it is under a command beside its service', async () => {
    await leave(OPENED_SINCE)
    await requireOpenedSchema(directory)
    const beside = openBesideService(directory)
    expect(createReader(beside).spentDays.of('sw_1' as never, 'key_1' as never)).toEqual([])
    expect(beside.spaces.meta.get(KEY)).toBe(OPENED_SINCE)
    await beside.root.close()
  })

  test.each([11, OPENED_SINCE - 1, SCHEMA_VERSION + 1])(
    'of schema %i is refused before anything of it is changed',
    async (version) => {
      await leave(version)
      expect(() => openBesideService(directory)).toThrow(/Start the build that wrote it/)
      await expect(requireOpenedSchema(directory)).rejects.toThrow(/Start the build that wrote it/)
    },
  )

  test('is not made by a command beside a service that has none', async () => {
    const misspelt = join(directory, 'misspelt')
    expect(() => openBesideService(misspelt)).toThrow(/contains no store/)
    await requireOpenedSchema(misspelt)
    expect(existsSync(misspelt)).toBe(false)
  })

  test('of this schema is opened again', async () => {
    for (let opening = 0; opening < 2; opening++) {
      const environment = openEnvironment(directory)
      expect(environment.spaces.meta.get(KEY)).toBe(SCHEMA_VERSION)
      await environment.root.close()
    }
  })
})
