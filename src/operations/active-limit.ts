import {
  fittingActive,
  isBoundByMachine,
  isDelayed,
  isFlowing,
  isOutpaced,
  LoadCounter,
  type LoadWindow,
  SHED_DELAY_MS,
  STANDING_DELAY_MS,
} from './load-window.js'

/**
 * Decides how many calls that move value may be at work at once, from how long they wait.
 * Deterministic: its owner reports what happens and when.
 *
 * It judges the delay inside the service (CoDel, RFC 8289: the least delay of a stretch of time
 * distinguishes a standing queue from a burst), not the whole answer, because a distant node's
 * round trip is no reason to do less at once. Each window of time is judged once, at its end:
 *
 * || phase        | what is over the limit | left when
 * |
 * || ------------ | ---------------------- |
 * ------------------------------------------------------------ |
 * || `open`       | waits                  | → `suspected`: a flood, and places ran out
 * |
 * ||              |                        | → `shedding`: a flood, pressed for long, and calls are
 * slow  |
 * || `suspected`  | waits; least at work   | → `open`: no flood, no refusal, or calls flow
 * |
 * ||              |                        | → `shedding`: as from `open`
 * |
 * || `shedding`   | is refused at once     | → `recovering`: a window without a refusal
 * |
 * || `recovering` | is refused at once     | → `shedding`: a refusal
 * |
 * ||              |                        | → `open`: calm for several windows
 * |
 * || any          |                        | → `open`, as at the start: no calls for a while
 * |
 */
type LimitPhase = 'open' | 'suspected' | 'shedding' | 'recovering'

/**
 * Window before shedding: long enough for a few commits, short enough to detect overload before it
 * is felt.
 */
const WATCH_WINDOW_MS = 50
/** Window while shedding: enough calls complete in it to measure how long they took. */
const SHED_WINDOW_MS = 100
/** Calls at work at once before any measurement; more than keeps every batch full. */
const INITIAL_ACTIVE = 128
/** Below this, batches run half empty, so less work is done instead of the same work sooner. */
const ACTIVE_MIN = 32
/**
 * Consecutive windows with a queue throughout before calls are shed; a burst is over by then, or
 * nearly.
 */
const PRESSED_WINDOWS = 4
/**
 * Weight of a window in which places ran out: calls are refused already, and those that wait would
 * be the slowest of all.
 */
const REFUSING_WINDOW_WEIGHT = 2
/**
 * Consecutive windows with a queue but no delay before more calls may be at work. One is not
 * enough, because the first calls to complete ran without others.
 */
const FLOWING_WINDOWS = 2
/** Fewer places in use than this is a burst, however long a slow machine works on it. */
const CROWDED_SHARE = 0.5
/** Windows without a refusal after which overload is over. */
const CALM_WINDOWS = 3
/** After this time without a call, earlier measurements no longer hold. */
const SILENCE_MS = 300
const SHRINK = 0.85
const GROW = 1.1

interface LimitState {
  readonly phase: LimitPhase
  /** Calls that may be at work when no overload is suspected. */
  readonly max: number
  /** Consecutive windows with a queue throughout, weighted; 0 while shedding. */
  readonly pressedWindows: number
  /** Consecutive windows with a queue in which calls flowed; 0 while shedding. */
  readonly flowingWindows: number
  /** Consecutive windows without a refusal; 0 except while recovering. */
  readonly calmWindows: number
}

interface LimitBounds {
  readonly initial: number
  readonly least: number
  readonly most: number
}

/** The state after a window, by the phase the window was in. */
const AFTER_WINDOW: Readonly<
  Record<LimitPhase, (state: LimitState, window: LoadWindow, bounds: LimitBounds) => LimitState>
> = {
  open: afterWatching,
  suspected: afterWatching,
  shedding: afterShedding,
  recovering: afterShedding,
}

function atStart({ initial }: LimitBounds): LimitState {
  return { phase: 'open', max: initial, pressedWindows: 0, flowingWindows: 0, calmWindows: 0 }
}

function afterWatching(state: LimitState, window: LoadWindow, bounds: LimitBounds): LimitState {
  const isRefusing = window.refused > 0
  const isSlowOrUnknown = isRefusing
    ? !isFlowing(window)
    : window.completed === 0 || isDelayed(window, STANDING_DELAY_MS)
  const pressedWindows = pressedAfter(state, window)
  // If nothing completes, something is stuck, and more calls would not help.
  const flowingWindows =
    window.wasQueuedThroughout && !isSlowOrUnknown ? state.flowingWindows + 1 : 0
  const hasRoom = flowingWindows >= FLOWING_WINDOWS
  const max = hasRoom ? Math.min(bounds.most, state.max * 2) : state.max
  const isCrowded = window.active + window.queued >= bounds.most * CROWDED_SHARE
  const isFlood = isCrowded && isOutpaced(window)
  const isSlow = isSlowOrUnknown && window.completed > 0
  if (isFlood && isSlow && pressedWindows >= PRESSED_WINDOWS) {
    const fitting = Math.max(bounds.least, fittingActive(window))
    return { ...atStart(bounds), phase: 'shedding', max: Math.min(max, fitting) }
  }
  // The calls at work have not completed yet. Until they have, no call begins that could be late.
  const isSuspected = isFlood && isRefusing && flowingWindows === 0
  const phase = isSuspected ? 'suspected' : 'open'
  return { phase, max, pressedWindows, flowingWindows, calmWindows: 0 }
}

function pressedAfter({ pressedWindows }: LimitState, window: LoadWindow): number {
  if (window.refused > 0) return pressedWindows + REFUSING_WINDOW_WEIGHT
  return window.wasQueuedThroughout ? pressedWindows + 1 : 0
}

function afterShedding(state: LimitState, window: LoadWindow, bounds: LimitBounds): LimitState {
  const isRefusing = window.refused > 0
  const calmWindows = isRefusing ? 0 : state.calmWindows + 1
  if (calmWindows >= CALM_WINDOWS) {
    return { ...atStart(bounds), max: Math.max(state.max, bounds.initial) }
  }
  const phase = isRefusing ? 'shedding' : 'recovering'
  return { ...state, phase, calmWindows, max: shedMaxAfter(state.max, window, bounds) }
}

function shedMaxAfter(max: number, window: LoadWindow, { least, most }: LimitBounds): number {
  if (isDelayed(window, SHED_DELAY_MS)) return Math.max(least, Math.floor(max * SHRINK))
  const mayGrow = window.refused > 0 && (isFlowing(window) || !isBoundByMachine(window))
  return mayGrow ? Math.min(most, Math.ceil(max * GROW)) : max
}

function isSheddingPhase(phase: LimitPhase): boolean {
  return phase === 'shedding' || phase === 'recovering'
}

export interface ActiveLimit {
  readonly phase: LimitPhase
  /** Calls that may be at work at once. */
  readonly max: number
  /** True while calls over the limit are refused rather than queued. */
  readonly shedding: boolean
  /**
   * Call it before each of the others.
   * @returns true when shedding has just begun
   */
  advance(nowMs: number, active: number, queued: number): boolean
  arrived(): void
  refused(): void
  /** @param delayMs time the call took inside this host; null if unknown */
  completed(delayMs: number | null): void
  /** Call it when the queue becomes empty. */
  drained(): void
}

export function createActiveLimit(activeMax: number): ActiveLimit {
  const bounds: LimitBounds = {
    initial: Math.min(INITIAL_ACTIVE, activeMax),
    least: Math.min(ACTIVE_MIN, activeMax),
    most: activeMax,
  }
  const counter = new LoadCounter()
  let state = atStart(bounds)
  let windowEndsAtMs = 0

  return {
    get phase() {
      return state.phase
    },
    get max() {
      return state.phase === 'suspected' ? Math.min(state.max, bounds.least) : state.max
    },
    get shedding() {
      return isSheddingPhase(state.phase)
    },
    advance(nowMs, active, queued) {
      if (nowMs < windowEndsAtMs) return false
      const wasShedding = isSheddingPhase(state.phase)
      const window = counter.close(windowLengthMs(state.phase), active, queued)
      // After a silence there is no window to judge.
      const isSilence = nowMs >= windowEndsAtMs + SILENCE_MS
      state = isSilence ? atStart(bounds) : AFTER_WINDOW[state.phase](state, window, bounds)
      counter.reset(queued)
      windowEndsAtMs = nowMs + windowLengthMs(state.phase)
      return isSheddingPhase(state.phase) && !wasShedding
    },
    arrived: () => counter.arrive(),
    refused: () => counter.refuse(),
    completed: (delayMs) => counter.complete(delayMs),
    drained: () => counter.drain(),
  }
}

function windowLengthMs(phase: LimitPhase): number {
  return isSheddingPhase(phase) ? SHED_WINDOW_MS : WATCH_WINDOW_MS
}
