import { type AlertText, type EventData, type EventType, eventRow } from '../domain/event-types.js'

/** Names, reasons and errors come from users and chains, so their length is bounded here. */
const TEXT_CHARS_MAX = 500

export function alertText(type: EventType, data: EventData): AlertText {
  const { title, text } = eventRow(type).alert(data)
  return { title: bounded(title), text: bounded(text) }
}

function bounded(text: string): string {
  return text.length <= TEXT_CHARS_MAX ? text : `${text.slice(0, TEXT_CHARS_MAX - 1)}…`
}
