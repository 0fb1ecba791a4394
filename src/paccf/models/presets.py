"""Well-known endpoints. A preset is no more than defaults: where to send, which environment variable holds the key."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Preset:
    """``url`` is the base that ``/chat/completions`` is put behind; without one, the model answers in this process.
    ``limit`` is the body field that bounds an answer's tokens."""

    name: str
    about: str
    url: str = ""
    key_env: str = ""
    model: str = ""
    limit: str = "max_tokens"


PRESETS = {
    preset.name: preset
    for preset in (
        Preset("simulated", "the truth distorted by a profile: free, offline, marked SIMULATED"),
        Preset("local", "a small real model in this process: free, offline; once `paccf models install local`"),
        Preset(
            "deepseek",
            "DeepSeek's API",
            "https://api.deepseek.com/v1",
            "DEEPSEEK_API_KEY",
            "deepseek-v4-flash",  # paper, table of frozen settings
        ),
        Preset("openai", "OpenAI's API", "https://api.openai.com/v1", "OPENAI_API_KEY", limit="max_completion_tokens"),
        Preset("ollama", "Ollama on this machine", "http://127.0.0.1:11434/v1"),
        Preset("vllm", "vLLM on this machine", "http://127.0.0.1:8000/v1"),
        Preset("llamacpp", "llama.cpp's server on this machine", "http://127.0.0.1:8080/v1"),
    )
}
