"""How a session comes to be: everything built, and the newest checkpoint read."""

import gc
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import torch

from sandbox_service.training.checkpoint import Checkpoints
from sandbox_service.training.config import TrainingConfig
from sandbox_service.training.datasets import load_problems
from sandbox_service.training.distributed import World, joined_world, share_gradients
from sandbox_service.training.kl import AdaptiveKLController, FixedKLController
from sandbox_service.training.loading import device_of, load
from sandbox_service.training.optim import make_optimizer, make_scheduler
from sandbox_service.training.policy import ActorCritic, Reference
from sandbox_service.training.reward import RewardsClient, Scorer
from sandbox_service.training.sampler import Sampler
from sandbox_service.training.session import Session
from sandbox_service.training.tracking import Tracker


@contextmanager
def open_session(
    config: TrainingConfig, *, with_critic: bool, client: RewardsClient | None = None
) -> Iterator[Session]:
    """Builds a session, from its newest checkpoint if there is one; SIGTERM ends it in order."""
    with ExitStack() as stack:
        is_cuda = device_of(config.model).type == "cuda"
        world = stack.enter_context(joined_world(config.parallel, is_cuda=is_cuda))
        checkpoints = Checkpoints(config.storage_url, config.checkpoint.keep)
        found = checkpoints.steps() if config.checkpoint.resume else []
        scorer = Scorer(config.reward, client)
        stack.callback(scorer.close)
        session = _build(config, world, checkpoints, scorer, with_critic=with_critic)
        stack.callback(_release, session)
        if found:
            session.restore(found[-1])
        session.tracker = stack.enter_context(
            Tracker(
                Path(config.output),
                is_writing=world.is_first,
                steps=config.steps,
                first_step=session.first_step,
            )
        )
        stack.enter_context(_stopping(session))
        yield session


def _build(
    config: TrainingConfig,
    world: World,
    checkpoints: Checkpoints,
    scorer: Scorer,
    *,
    with_critic: bool,
) -> Session:
    device = device_of(config.model, world.local_rank)
    torch.manual_seed(config.seed)
    loaded = load(config.model, config.seed)
    policy = ActorCritic(
        loaded.model,
        config.model,
        temperature=config.rollout.temperature,
        with_critic=with_critic,
    ).to(device)
    # The reference is copied before shards are made of the policy.
    reference = Reference(policy, config.model) if config.kl.kl_coef else None
    model = share_gradients(policy, world, config.parallel)
    optimizer = make_optimizer(policy, config.optim)
    train, held_out = load_problems(config)
    generator, shuffle = torch.Generator(device), torch.Generator()
    generator.manual_seed(config.seed * world.size + world.rank)
    shuffle.manual_seed(config.seed)
    return Session(
        config=config,
        world=world,
        device=device,
        loaded=loaded,
        policy=policy,
        model=model,
        reference=reference,
        optimizer=optimizer,
        scheduler=make_scheduler(optimizer, config.optim, config.steps),
        kl_controller=_controller(config),
        sampler=Sampler(train, config.sampler, config.seed),
        scorer=scorer,
        tracker=None,  # type: ignore[arg-type]  # made once the first step is known
        checkpoints=checkpoints,
        held_out=held_out,
        generator=generator,
        shuffle=shuffle,
    )


def _controller(config: TrainingConfig) -> AdaptiveKLController | FixedKLController:
    kl = config.kl
    if kl.target_kl is None:
        return FixedKLController(kl.kl_coef)
    return AdaptiveKLController(kl.kl_coef, kl.target_kl, kl.horizon)


def _release(session: Session) -> None:
    """Frees what shares gradients before the processes part.

    Freed later, it joins gloo's thread while that thread waits for the interpreter's lock.
    """
    session.model = session.policy
    gc.collect()


@contextmanager
def _stopping(session: Session) -> Iterator[None]:
    def stop(*_: object) -> None:
        session.is_stopping = True
        session.scorer.end_pauses()

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
