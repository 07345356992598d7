import { isoTime } from '../../domain/iso-time.js'
import { clockText, hoursText } from '../clock-text.js'
import { isSame } from '../comparisons.js'
import { truth, values } from '../condition.js'
import type { Faults } from '../json-reader.js'
import { sorted } from '../policy-json.js'
import { type Hours, isWithinHours, WEEKDAYS, type Weekday } from '../utc-hours.js'
import { listForm, optional } from '../wire-form.js'
import type { ConditionRow } from './row.js'

const HOURS_MAX = 16
const CLOCK = /^([01]\d|2[0-3]):([0-5]\d)$/
const DAY_MINUTES = 1_440

export const utcHoursRow: ConditionRow<readonly Hours[]> = {
  wire: 'utc_hours',
  form: listForm({
    kind: 'fields',
    fields: {
      days: optional(listForm({ kind: 'option', options: WEEKDAYS })),
      from: { kind: 'text', note: '"08:00"' },
      to: { kind: 'text', note: '"18:00"; before `from` it is of the next day' },
    },
  }),
  read: readHoursList,
  write: (hours) =>
    hours.map(({ days, fromMinute, toMinute }) =>
      sorted({ days, from: clockText(fromMinute), to: clockText(toMinute) }),
    ),
  words: (hours) => `at ${hours.map(hoursText).join(', ')} UTC`,
  compile: (hours) => ({
    field: 'utc_hours',
    ...values(hours.map(hoursText).join(', ')),
    heals: { hours },
    test: (_, { nowMs }) => truth(isWithinHours(hours, nowMs)),
    observed: (_, { nowMs }) => isoTime(nowMs),
  }),
  isAlwaysJudged: true,
  isOfDelegations: true,
  liesWithin: isSame,
  sample: { of: 'minute', values: (hours) => hours.flatMap(minutesOf) },
}

function readHoursList(value: unknown, path: string, faults: Faults): Hours[] | null {
  const list = faults.list(value, path, { min: 1, max: HOURS_MAX }, (element, at) =>
    readHours(element, at, faults),
  )
  if (list === null) return null
  const text = ({ days, fromMinute, toMinute }: Hours) =>
    `${String(fromMinute).padStart(4, '0')}:${String(toMinute).padStart(4, '0')}:${days.join()}`
  const byText = new Map(list.map((hours) => [text(hours), hours]))
  return [...byText.keys()].sort().flatMap((key) => byText.get(key) ?? [])
}

function readHours(value: unknown, path: string, faults: Faults): Hours | null {
  const object = faults.object(value, path, ['days', 'from', 'to'])
  if (object === null) return null
  const bounds = { min: 1, max: WEEKDAYS.length }
  // Spec silent: without days it applies every day.
  const days = faults.list(object.days ?? WEEKDAYS, `${path}.days`, bounds, (day, at) =>
    faults.oneOf<Weekday>(day, at, WEEKDAYS),
  )
  const fromMinute = readClock(object.from, `${path}.from`, faults)
  const toMinute = object.to === '24:00' ? DAY_MINUTES : readClock(object.to, `${path}.to`, faults)
  if (days === null || fromMinute === null || toMinute === null) return null
  if (fromMinute === toMinute) return faults.report(path, 'must not end where it begins')
  return { days: WEEKDAYS.filter((day) => days.includes(day)), fromMinute, toMinute }
}

function readClock(value: unknown, path: string, faults: Faults): number | null {
  const match = typeof value === 'string' ? CLOCK.exec(value) : null
  if (match === null) return faults.report(path, 'must be a time of day like "08:00"')
  return Number(match[1]) * 60 + Number(match[2])
}

/** The minutes at which the hours start and end, on the first of their days. */
function minutesOf({ days, fromMinute, toMinute }: Hours): number[] {
  const day = WEEKDAYS.findIndex((one) => days.includes(one)) * DAY_MINUTES
  return [day + fromMinute, (day + toMinute) % (7 * DAY_MINUTES)]
}
