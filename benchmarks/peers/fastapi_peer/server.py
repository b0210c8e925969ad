"""Serve the application with uvicorn, uvloop and httptools."""

import settings
import uvicorn

if __name__ == "__main__":
    uvicorn.run(
        "app:app",
        host=settings.HOST,
        port=settings.PORT,
        loop="uvloop",
        http="httptools",
        access_log=False,
        log_level="warning",
    )
