import type { Hours } from './utc-hours.js'

/** Formats a time of day: "08:00"; the end of a day is "24:00". */
export function clockText(minute: number): string {
  const two = (part: number) => String(part).padStart(2, '0')
  return `${two(Math.floor(minute / 60))}:${two(minute % 60)}`
}

export function hoursText({ days, fromMinute, toMinute }: Hours): string {
  return `${days.join(' ')} ${clockText(fromMinute)}-${clockText(toMinute)}`
}
