import { describe, expect, test } from 'vitest'
import { systemTimers } from '../../src/clock/timers.js'
import { cellsOf } from '../../src/config/journal.js'
import {
  ALL_PARTITIONS,
  formatPartitions,
  hasUser,
  ONE_CELL,
  parsePartitions,
  partitionOfSecret,
} from '../../src/domain/cells.js'
import type { UserId } from '../../src/domain/ids.js'
import { partitionOf } from '../../src/domain/partition.js'
import { newKeySecret } from '../../src/operations/console/key-secret.js'

const USERS = Array.from({ length: 500 }, (_, n) => `user-${n}` as UserId)

describe('cells', () => {
  test('have each user once', () => {
    const { all } = cellsOf({ cells: ['0-7', '8,9,10-15', '16-23'], cell: 1 })
    for (const user of USERS) {
      expect(all.filter((cell) => hasUser(cell, user))).toHaveLength(1)
    }
    for (const cell of all) expect(USERS.some((user) => hasUser(cell, user))).toBe(true)
  })

  test('are one with every user where none are named', () => {
    expect(cellsOf({})).toEqual({ own: ONE_CELL, all: [ONE_CELL] })
    expect(USERS.every((user) => hasUser(ONE_CELL, user))).toBe(true)
  })

  test('are written as they are read', () => {
    for (const text of ['0', '0-23', '1,3,5-7', '22-23']) {
      expect(formatPartitions({ number: 0, partitions: parsePartitions(text) ?? 0 })).toBe(text)
    }
    expect(parsePartitions('0-23')).toBe(ALL_PARTITIONS)
    for (const wrong of ['', '24', '3-1', '0-3,2', 'a', '1,', '-1', '0-24']) {
      expect(parsePartitions(wrong), wrong).toBeNull()
    }
  })

  test('are told by the secret of a key whose user it is of', () => {
    for (const user of USERS) {
      const { secret } = newKeySecret('test', user, systemTimers())
      expect(secret).toMatch(/^sk_test_[A-Za-z0-9_-]{32}$/)
      expect(partitionOfSecret(secret)).toBe(partitionOf(user))
    }
  })

  test('are told whatever the random bytes are', () => {
    const full = { random: { bytes: (count: number) => new Uint8Array(count).fill(0xff) } }
    for (const user of USERS) {
      const { secret } = newKeySecret('live', user, full as never)
      expect(partitionOfSecret(secret)).toBe(partitionOf(user))
    }
  })
})
