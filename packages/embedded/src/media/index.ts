/** Procedural pictures and films. A separate entry because its packages are large and optional. */
export {
  type AnimateRequest,
  animate,
  type Animation,
  animation,
  animatorModel,
  checkAnimate,
  FRAMES_PER_SECOND,
  MAX_SECONDS,
  VIDEO_LIMITS
} from "./Animator.ts"
export { MAX_REFERENCES, type Size, type SizeLimits } from "./MediaRequest.ts"
export {
  checkPaint,
  IMAGE_LIMITS,
  MAX_PAINTED,
  paint,
  painterModel,
  paintMany,
  type PaintRequest
} from "./Painter.ts"
