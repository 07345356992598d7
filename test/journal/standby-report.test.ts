import { expect, test } from 'vitest'
import { standbyReport } from '../../src/service/standby-report.js'

const SEEN = {
  epoch: 3,
  leader: null,
  stored: 120,
  applied: 100,
  restoring: null,
  hindrance: null,
  asked: null,
}

test('a standby says how far behind its owner it is', () => {
  const standby = { status: 'down', standby: true, loaded: true }
  expect(standbyReport(null, true, 'id')).toMatchObject(standby)
  expect(standbyReport(SEEN, true, 'id')).toMatchObject({ ...standby, epoch: 3, behind: 20 })
  // What it has from a snapshot may be newer than what the owner has said.
  expect(standbyReport({ ...SEEN, applied: 121 }, true, 'id')).toMatchObject({
    ...standby,
    behind: 0,
  })
  expect(standbyReport({ ...SEEN, epoch: 0 }, true, 'id').reason).toContain('has had no leader yet')
})

test('one whose store is being restored says how much of it is there', () => {
  const restoring = { seq: 90, chunks: 1, of: 3 }
  const report = standbyReport(
    { epoch: 0, leader: null, stored: 90, applied: 0, restoring, hindrance: null, asked: null },
    true,
    'id',
  )
  expect(report).toEqual({
    status: 'down',
    reason: expect.stringContaining('restored from its snapshot'),
    ...{ standby: true, loaded: true, id: 'id' },
    restored_percent: 33,
  })
})

test('one that cannot sign says so, and not by whose words', () => {
  const report = standbyReport({ ...SEEN, hindrance: 'names none of its keys' }, true, 'id')
  expect(report).toMatchObject({ status: 'down', standby: true, behind: 20, hindered: true })
  expect(report.reason).toContain('cannot sign')
  expect(standbyReport(SEEN, true, 'id')).not.toHaveProperty('hindered')
})
