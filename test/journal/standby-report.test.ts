import { expect, test } from 'vitest'
import { standbyReport } from '../../src/service/standby-report.js'

const SEEN = { epoch: 3, stored: 120, applied: 100, restoring: null }

test('a standby says how far behind its owner it is', () => {
  const standby = { status: 'down', standby: true }
  expect(standbyReport(null)).toMatchObject(standby)
  expect(standbyReport(SEEN)).toMatchObject({ ...standby, epoch: 3, behind: 20 })
  // What it has from a snapshot may be newer than what the owner has said.
  expect(standbyReport({ ...SEEN, applied: 121 })).toMatchObject({ ...standby, behind: 0 })
  expect(standbyReport({ ...SEEN, epoch: 0 }).reason).toContain('nobody has owned yet')
})

test('one whose store is being restored says how much of it is there', () => {
  const restoring = { seq: 90, chunks: 1, of: 3 }
  const report = standbyReport({ epoch: 0, stored: 90, applied: 0, restoring })
  expect(report).toEqual({
    status: 'down',
    reason: expect.stringContaining('restored from its snapshot'),
    standby: true,
    restored_percent: 33,
  })
})
